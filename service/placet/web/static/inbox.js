import { follow } from "./live.js";

// New rows wait behind a button: nothing moves under a thumb. Rows that have ended go grey at once.
const news = document.getElementById("news");
let count = 0;
follow((type, data) => {
  if (type === "requested" || type === "gap") {
    count += 1;
    news.hidden = false;
    news.firstElementChild.textContent = count === 1 ? "Show 1 new" : `Show ${count} new`;
    return;
  }
  const row = document.querySelector(`.row[href="/a/${CSS.escape(data.id)}"]`);
  if (row && data.status !== "pending") {
    row.querySelector(".left").textContent = data.status;
    row.classList.add("void");
  }
});
