import { countdown, follow, stale } from "./live.js";

const ASK_MS = 2_000; // at most so often
const REST = 20; // and after an answer for this many times as long as it took: a long inbox takes the service long
const SOON_MS = 250; // what comes in a burst is one question

const list = document.querySelector(".rows");
const rows = [...list.querySelectorAll(".row")];
const ends = new Map();
for (const row of rows) {
  const left = row.querySelector(".left");
  if (left.dataset.dies) ends.set(row, countdown(left, Number(left.dataset.dies), Number(list.dataset.now)));
}

// New rows wait behind a button: nothing moves under a thumb. Rows that have ended go grey at once.
const news = document.querySelector("#news a");
let isOld = false;
function tell(fresh) {
  news.hidden = !(fresh || isOld);
  news.textContent = fresh ? `Show ${fresh} new` : "Show what is new";
}

// Of what happens, much concerns others: how much awaits whoever looks here, and is as chosen, the service says.
let timer;
let next = 0;
let isAsking = false;
let asksAgain = false;
function ask() {
  if (isAsking) { asksAgain = true; return; }
  timer ??= setTimeout(asked, Math.max(SOON_MS, next - performance.now()));
}
async function asked() {
  timer = undefined;
  isAsking = true;
  const began = performance.now();
  try {
    const query = new URLSearchParams(location.search);
    query.set("since", list.dataset.now);
    const answer = await fetch(`/ui/inbox?${query}`);
    if (answer.redirected) stale();
    else if (answer.ok) {
      const said = await answer.json();
      document.title = document.title.replace(/^(\(\d+\) )?/, said.awaiting ? `(${said.awaiting}) ` : "");
      tell(said.new);
    }
  } catch { /* The next event asks again. */ }
  next = performance.now() + Math.max(ASK_MS, REST * (performance.now() - began));
  isAsking = false;
  if (asksAgain) { asksAgain = false; ask(); }
}

follow((type, data) => {
  if (type === "gap") {
    isOld = true;
    tell(0);
    ask();
    return;
  }
  if (type !== "consumed" && type !== "reported") ask();
  const row = rows.find((each) => each.pathname === `/a/${data.id}`);
  if (row && data.status !== "pending") {
    ends.get(row)?.();
    row.querySelector(".left").textContent = data.status;
    row.classList.add("void");
    const choice = row.parentElement.querySelector(".choose");
    choice.checked = false;
    choice.disabled = true;
  }
});

// Those whose cards were shown whole in this window bring the receipts that say so.
const approve = document.querySelector(".bar [value=approve]");
const receipts = new Map();
for (const choice of list.querySelectorAll(".choose")) {
  const id = choice.name.replace("chosen-", "");
  const shown = JSON.parse(sessionStorage.getItem(`shown:${list.dataset.line}:${id}`) ?? "null");
  if (shown?.digest !== choice.value) continue;
  const input = document.createElement("input");
  Object.assign(input, { type: "hidden", name: `receipt-${id}`, value: shown.receipt });
  choice.after(input);
  const mark = document.createElement("span");
  Object.assign(mark, { className: "opened", textContent: "opened" });
  choice.parentElement.querySelector(".row").append(mark);
  receipts.set(choice, input);
}
function offer() {
  const ticked = [...list.querySelectorAll(".choose:checked")];
  const unread = ticked.filter((choice) => !receipts.has(choice)).length;
  approve.hidden = receipts.size === 0;
  approve.disabled = !approve.hidden && (ticked.length === 0 || unread > 0);
  const more = approve.hidden || !unread ? "" : ` To approve them, open ${unread === 1 ? "the one" : `the ${unread}`} not opened yet.`;
  document.getElementById("ticked").textContent = ticked.length ? `${ticked.length} ticked.${more}` : "";
  for (const [choice, input] of receipts) input.disabled = !choice.checked;
}
if (approve) { list.addEventListener("change", offer); offer(); }

// From row to row, once one of them has the focus (WCAG 2.2, 2.1.4: nowhere else do letters do anything).
const steps = new Map([["j", 1], ["ArrowDown", 1], ["k", -1], ["ArrowUp", -1]]);
list.addEventListener("keydown", (event) => {
  const at = rows.indexOf(event.target);
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "x") {
    const choice = rows[at].parentElement.querySelector(".choose");
    if (!choice.disabled) {
      list.querySelector(".several")?.setAttribute("open", "");
      choice.click();
    }
  } else if (steps.has(event.key)) {
    rows[at + steps.get(event.key)]?.focus();
  } else return;
  event.preventDefault();
});
