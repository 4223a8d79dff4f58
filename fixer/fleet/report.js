"use strict";
(() => {
  const FIRST = 500;
  const COLUMNS = ["name", "state", "verdict", "repaired", "left", "reason", "seconds"];
  const COUNTS = new Set(["repaired", "left", "seconds"]);
  const every = JSON.parse(document.getElementById("data").textContent);
  const words = every.map((row) => `${row.name} ${row.state} ${row.verdict} ${row.reason}`.toLowerCase());
  const by = (id) => document.getElementById(id);
  let sorted = { key: null, way: 1 };
  let most = FIRST;

  const chosen = () => {
    const asked = by("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const state = by("state").value;
    const verdict = by("verdict").value;
    const found = every.filter(
      (row, at) =>
        (!state || row.state === state) &&
        (!verdict || row.verdict === verdict) &&
        asked.every((word) => words[at].includes(word)),
    );
    if (sorted.key) {
      const { key, way } = sorted;
      const compare = COUNTS.has(key)
        ? (one, other) => one[key] - other[key]
        : new Intl.Collator("en", { numeric: true }).compare;
      found.sort((one, other) => way * (COUNTS.has(key) ? compare(one, other) : compare(one[key], other[key])));
    }
    return found;
  };

  const link = (text, address) => {
    const made = document.createElement("a");
    made.href = address;
    made.textContent = text;
    return made;
  };

  const cell = (row, key) => {
    const made = document.createElement("td");
    if (COUNTS.has(key)) made.className = "count";
    if (key === "name" && row.page) made.append(link(row.name, row.page));
    else if (key === "state" && row.link) made.append(link(row.state, row.link));
    else made.textContent = row[key];
    return made;
  };

  const show = () => {
    const found = chosen();
    const lines = found.slice(0, most).map((row) => {
      const line = document.createElement("tr");
      line.append(...COLUMNS.map((key) => cell(row, key)));
      return line;
    });
    by("rows").replaceChildren(...lines);
    by("shown").textContent =
      found.length > lines.length ? `${lines.length} of ${found.length} shown` : `${found.length} of ${every.length}`;
    by("more").hidden = found.length <= lines.length;
  };

  for (const id of ["search", "state", "verdict"]) by(id).addEventListener("input", show);
  by("more").addEventListener("click", () => {
    most = Infinity;
    show();
  });
  for (const head of document.querySelectorAll("th[data-key]")) {
    head.addEventListener("click", () => {
      const key = head.dataset.key;
      sorted = { key, way: sorted.key === key ? -sorted.way : 1 };
      for (const other of document.querySelectorAll("th[data-key]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sorted.way > 0 ? "ascending" : "descending");
      show();
    });
  }
  show();
})();
