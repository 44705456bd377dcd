"use strict";
// Searches, sorts and leads on. It moves and hides rows that are there and follows their links: nothing that a student
// wrote is ever made into markup or code.
(() => {
  const body = document.querySelector(".students tbody");
  const rows = [...body.rows];
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const only = document.getElementById("only");
  const rest = document.getElementById("rest");
  const heads = [...document.querySelectorAll(".students thead th")];
  const words = rows.map((row) => row.textContent.toLowerCase());
  const inLists = rows.map((row) => ` ${row.dataset.in || ""} `);
  const number = new Map(rows.map((row, place) => [row, place]));
  const collator = new Intl.Collator(undefined, { numeric: true });
  const AT_ONCE = 300; // rows: a browser lays out ten thousand for seconds; the style knows it, too
  let most = AT_ONCE;
  const state = { column: -1, down: false, list: "", about: "", search: "", shown: "shown-all" };
  const memory = `students of ${location.pathname} at ${document.lastModified}`; // a page made anew begins anew

  const remember = () => {
    try { sessionStorage.setItem(memory, JSON.stringify(state)); } catch { /* a browser may forbid it; then it is forgotten */ }
  };
  const recall = () => {
    try { Object.assign(state, JSON.parse(sessionStorage.getItem(memory) || "{}")); } catch { /* as above */ }
  };

  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.classList.contains("number") ? parseFloat(cell.textContent) || 0 : cell.textContent.trim();
  };
  const sort = () => {
    if (state.column < 0 || !heads[state.column]) return;
    const keys = new Map(rows.map((row) => [row, key(row, state.column)]));
    const sign = state.down ? -1 : 1;
    const inOrder = [...rows].sort((one, other) => {
      const a = keys.get(one), b = keys.get(other);
      return sign * (typeof a === "number" ? a - b : collator.compare(a, b)) || number.get(one) - number.get(other);
    });
    inOrder.forEach((row) => body.append(row));
    heads.forEach((head, place) => {
      if (place === state.column) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  const fitting = () => {
    const wanted = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = state.shown.replace("shown-", "in-");
    return [...body.rows].filter((row) => {
      const place = number.get(row);
      return (kind === "in-all" || row.classList.contains(kind)) &&
        (!state.list || inLists[place].includes(` ${state.list} `)) &&
        wanted.every((word) => words[place].includes(word));
    });
  };
  const filter = () => {
    const found = fitting();
    const seen = new Set(found.slice(0, most));
    rows.forEach((row) => { row.hidden = !seen.has(row); });
    only.hidden = !state.list;
    only.firstElementChild.textContent = state.about;
    rest.hidden = seen.size === found.length;
    rest.firstElementChild.textContent = `Show ${found.length - seen.size} more`;
    count.textContent = found.length === rows.length ? "" : `${found.length} of ${rows.length} students`;
    remember();
  };

  const show = (button) => {
    state.list = button.dataset.list;
    state.about = button.dataset.about;
    filter();
    document.getElementById("students").scrollIntoView();
  };
  const goOn = (way, name) => {
    const shown = fitting();
    const place = shown.findIndex((row) => row.cells[0].textContent.trim() === name);
    for (let next = place + (way === "after" ? 1 : -1); shown[next]; next += way === "after" ? 1 : -1) {
      const link = shown[next].querySelector("a");
      if (link) { location.replace(link.href); return; }
    }
    count.textContent = `${name} is the ${way === "after" ? "last" : "first"} of the students shown`;
    document.getElementById("students").scrollIntoView();
  };
  const follow = () => {
    const asked = /^#(before|after)=(.*)$/.exec(location.hash);
    if (!asked) return;
    let name;
    try { name = decodeURIComponent(asked[2]); } catch { return; }
    goOn(asked[1], name);
  };

  recall();
  search.value = state.search;
  const radio = document.getElementById(state.shown);
  if (radio) radio.checked = true; else state.shown = "shown-all";
  sort();
  filter();
  document.documentElement.classList.remove("loading");
  search.addEventListener("input", () => { state.search = search.value; filter(); });
  document.querySelectorAll('input[name="shown"]').forEach((one) => {
    one.addEventListener("change", () => { state.shown = one.id; filter(); });
  });
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    state.down = state.column === column ? !state.down : head.classList.contains("number");
    state.column = column;
    sort();
    filter();
  }));
  document.querySelectorAll("button[data-list]").forEach((one) => one.addEventListener("click", () => show(one)));
  rest.firstElementChild.addEventListener("click", () => { most = Infinity; filter(); });
  document.getElementById("all").addEventListener("click", () => {
    state.list = state.about = "";
    filter();
  });
  addEventListener("hashchange", follow);
  follow();
})();
