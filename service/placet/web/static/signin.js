// The secret of a printed link stands behind its "#": no server and no log on the way has seen it. It is sent
// once, in the body of a POST, and taken out of the address. So is what somebody brings back from an issuer.
const form = document.getElementById("signin");
const returned = document.getElementById("returned");
function take() {
  const secret = location.hash.slice(1);
  if (!form || !secret) return;
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.secret.value = secret;
  // Nobody becomes another person without being asked.
  if (!("asks" in form.dataset)) form.requestSubmit();
}
take();
addEventListener("hashchange", take); // a link that is opened where this page is open already
if (returned) {
  history.replaceState(null, "", location.pathname);
  returned.requestSubmit();
}
