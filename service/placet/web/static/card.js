import { countdown, follow } from "./live.js";

const ARMED_MS = 600; // a thumb that was on its way to something else decides nothing

const card = document.querySelector(".card");
const element = card.querySelector(".state .left");
if (card.dataset.dies && element) countdown(element, Number(card.dataset.dies), Number(card.dataset.now));

// A card that came in answer to a form is at its own address all the same.
const stays = "stays" in card.dataset;
const itself = `/a/${card.dataset.id}`;
if (!stays && location.pathname !== itself) history.replaceState(null, "", itself);

const form = card.querySelector(".decide");
const buttons = [...card.querySelectorAll(".buttons button")];
let timer;
let sent = false;

// A page with more written on it than a comment stays as it is: the service judges what it sends.
// With GET, also where the page came in answer to a form.
const anew = () => location.replace(location.pathname + location.search);

function arm() {
  clearTimeout(timer);
  for (const button of buttons) button.disabled = true;
  if (!sent) timer = setTimeout(() => { for (const button of buttons) button.disabled = false; }, ARMED_MS);
}

if (form) {
  arm();
  addEventListener("focus", arm);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) arm(); });
  // A page that a browser kept whole, and shows again, is as old as it was left.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    if (!stays) { anew(); return; }
    sent = false;
    arm();
  });
  form.addEventListener("submit", (event) => {
    if (sent) { event.preventDefault(); return; }
    sent = true;
    setTimeout(() => { for (const button of buttons) button.disabled = true; });
  });
}

// What was shown here whole can be approved with others from the inbox of this window.
const proof = form?.elements.receipt;
if (proof && "whole" in card.dataset) {
  const shown = JSON.stringify({ digest: form.elements.digest.value, receipt: proof.value });
  sessionStorage.setItem(`shown:${card.dataset.line}:${card.dataset.id}`, shown);
}

// Whatever happens to it, the page says so at once. What was written so far stays.
follow((type, data) => {
  if (sent || stays || (type !== "gap" && data.id !== card.dataset.id)) return;
  anew();
});
// A draft waits for whoever wrote it, also where a sign-in came between; once nothing is asked any more it goes.
const draft = `comment:${card.dataset.person}:${card.dataset.id}`;
const comment = form?.elements.comment;
addEventListener("pagehide", () => {
  if (comment?.value) sessionStorage.setItem(draft, comment.value);
  else if (comment) sessionStorage.removeItem(draft);
});
const kept = sessionStorage.getItem(draft);
const isDone = !comment || "done" in card.dataset;
if (isDone) sessionStorage.removeItem(draft);
else if (kept && !comment.value) comment.value = kept;
