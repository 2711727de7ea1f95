// What all pages that stay open share: the countdown, and the stream of what happens.

export function left(ms) {
  if (ms <= 0) return "expired";
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s left`;
  const min = Math.floor(s / 60);
  if (min >= 10 && min < 60) return `${min} min left`;
  if (min < 60) return `${min} min ${String(s % 60).padStart(2, "0")} s left`;
  const h = Math.floor(min / 60);
  return h < 48 ? `${h} h ${String(min % 60).padStart(2, "0")} min left` : `${Math.floor(h / 24)} days left`;
}

// The service's clock counts, not the browser's: only the time that has passed since the page came is ours.
// What it gives back ends it.
export function countdown(element, diesMs, nowMs) {
  const began = performance.now();
  let timer;
  const show = () => {
    const ms = diesMs - nowMs - (performance.now() - began);
    element.textContent = left(ms);
    if (ms > 0) timer = setTimeout(show, ms < 3_600_000 ? 1_000 : 30_000);
  };
  show();
  return () => clearTimeout(timer);
}

export function follow(heard) {
  const stream = new EventSource("/ui/events");
  for (const type of ["requested", "voted", "edited", "approved", "rejected", "expired", "cancelled", "consumed", "reported", "gap"]) {
    stream.addEventListener(type, (event) => heard(type, JSON.parse(event.data)));
  }
  addEventListener("pagehide", () => stream.close());
}
