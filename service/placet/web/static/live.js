// What all pages that stay open share: the countdown, the stream of what happens, and times as people have them.

import "./times.js";

const UNITS = [["day", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1_000]];
const SOON_MS = 60_000;

// As the service words it, to the letter: ten of a unit and more stand alone, so that little moves until it matters.
export function left(ms) {
  if (ms <= 0) return "expired";
  const found = UNITS.findIndex(([, unit]) => ms >= unit);
  const place = found < 0 ? UNITS.length - 1 : found;
  const [name, unit] = UNITS[place];
  const count = Math.floor(ms / unit);
  const words = [`${count} ${name}${name === "day" && count > 1 ? "s" : ""}`];
  if (count < 10 && place < UNITS.length - 1) {
    const [below, smaller] = UNITS[place + 1];
    const rest = Math.floor((ms % unit) / smaller);
    if (rest) words.push(`${rest} ${below}`);
  }
  return `${words.join(" ")} left`;
}

// The service's clock counts, not the browser's: only the time that has passed since it was told is ours. One of
// our clocks stands still while the machine sleeps, the other may be set back: what has passed is the longer time.
let told;
function tell(nowMs) {
  told = { nowMs, ticks: performance.now(), wall: Date.now() };
}
function serviceNow() {
  return told.nowMs + Math.max(performance.now() - told.ticks, Date.now() - told.wall);
}

// What it gives back ends it.
export function countdown(element, diesMs, nowMs) {
  if (!told) tell(nowMs);
  let timer;
  const show = () => {
    clearTimeout(timer);
    const ms = diesMs - serviceNow();
    const words = left(ms);
    // What has not changed is not written again: it may be read aloud.
    if (element.textContent !== words || element.firstElementChild) element.textContent = words;
    element.classList.toggle("soon", ms > 0 && ms <= SOON_MS);
    if (ms > 0) timer = setTimeout(show, ms < 3_600_000 ? 1_000 : 30_000);
  };
  const events = ["placet:now", "visibilitychange"];
  for (const each of events) document.addEventListener(each, show);
  show();
  return () => {
    clearTimeout(timer);
    element.classList.remove("soon");
    for (const each of events) document.removeEventListener(each, show);
  };
}

// Tells what happens, while the page is seen: a browser has few connections to one host, and each stream holds
// one. Whenever it begins to listen, it asks whether the page is still what it would be now, and what time it is.
export function follow(heard) {
  const page = document.querySelector("[data-state]");
  let stream;
  async function compare() {
    const answer = await fetch(location.pathname + location.search);
    const text = await answer.text();
    const [state, now] = ["state", "now"].map((name) => new RegExp(`data-${name}="([^"]*)"`).exec(text)?.[1]);
    if (!answer.ok || answer.redirected) { stale(answer.redirected); return; }
    if (now) {
      tell(Number(now));
      document.dispatchEvent(new Event("placet:now"));
    }
    if (state && state !== page.dataset.state) heard("gap", {});
  }
  const close = () => stream?.close();
  function open() {
    close();
    stream = new EventSource("/ui/events");
    for (const type of ["requested", "voted", "edited", "approved", "rejected", "expired", "cancelled", "consumed", "reported", "escalated", "reminded", "gap"]) {
      stream.addEventListener(type, (event) => heard(type, JSON.parse(event.data)));
    }
    stream.addEventListener("open", () => { if (page) compare().catch(() => {}); });
    stream.addEventListener("error", (event) => { if (event.target.readyState === EventSource.CLOSED) stale(); });
  }
  if (!document.hidden) open();
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  // A page that a browser kept whole, and shows again.
  addEventListener("pageshow", (event) => { if (event.persisted && !document.hidden) open(); });
  addEventListener("submit", close);
  addEventListener("pagehide", close);
}

// Signed out elsewhere, or too many pages: what stands here may be over.
export function stale(isSignedOut = false) {
  if (document.getElementById("stale")) return;
  const note = document.createElement("p");
  note.id = "stale";
  note.className = "mind";
  note.setAttribute("role", "status");
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = isSignedOut ? "Sign in" : "Load it anew";
  note.append(isSignedOut ? "You are signed out. " : "This page no longer follows what happens. ", link);
  document.querySelector("main").prepend(note);
}
