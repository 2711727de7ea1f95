import { countdown, follow } from "./live.js";

const list = document.querySelector(".rows");
const rows = [...list.querySelectorAll(".row")];
const ends = new Map();
for (const row of rows) {
  const left = row.querySelector(".left");
  if (left.dataset.dies) ends.set(row, countdown(left, Number(left.dataset.dies), Number(list.dataset.now)));
}

// New rows wait behind a button: nothing moves under a thumb. Rows that have ended go grey at once.
const news = document.getElementById("news");
let count = 0;
follow((type, data) => {
  if (type === "gap") {
    news.hidden = false;
    news.firstElementChild.textContent = "Show what is new";
    return;
  }
  if (type === "requested") {
    count += 1;
    news.hidden = false;
    news.firstElementChild.textContent = count === 1 ? "Show 1 new" : `Show ${count} new`;
    return;
  }
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

// From row to row, once one of them has the focus (WCAG 2.2, 2.1.4: nowhere else do letters do anything).
const steps = new Map([["j", 1], ["ArrowDown", 1], ["k", -1], ["ArrowUp", -1]]);
list.addEventListener("keydown", (event) => {
  const at = rows.indexOf(event.target);
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "x") {
    const choice = rows[at].parentElement.querySelector(".choose");
    if (!choice.disabled) {
      list.querySelector(".several")?.setAttribute("open", "");
      choice.checked = !choice.checked;
    }
  } else if (steps.has(event.key)) {
    rows[at + steps.get(event.key)]?.focus();
  } else return;
  event.preventDefault();
});
