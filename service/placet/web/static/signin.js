// The secret of a printed link stands behind its "#": no server and no log on the way has seen it. It is sent
// once, in the body of a POST, and taken out of the address. So is what somebody brings back from an issuer.
const form = document.getElementById("signin");
const returned = document.getElementById("returned");
const secret = location.hash.slice(1);
if (form && secret) {
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.secret.value = secret;
  // Nobody becomes another person without being asked.
  if (!("asks" in form.dataset)) form.requestSubmit();
}
if (returned) {
  history.replaceState(null, "", location.pathname);
  returned.requestSubmit();
}
