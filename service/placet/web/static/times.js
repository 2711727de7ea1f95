// Times are told in UTC, as in the trail and the logs. Beside each stands what the clock of whoever reads it showed.

const two = (number) => String(number).padStart(2, "0");

function own(at, of) {
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return of.startsWith(day) ? clock : `${day} ${clock}`;
}

for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime()) || at.getTimezoneOffset() === 0) continue;
  const beside = document.createElement("span");
  Object.assign(beside, { className: "own", textContent: ` · ${own(at, time.dateTime)} your time` });
  beside.title = Intl.DateTimeFormat().resolvedOptions().timeZone;
  time.append(beside);
}
