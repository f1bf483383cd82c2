"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const one = (selector, root = document) => root.querySelector(selector);

  // Compactions: a mark opens its list, Escape closes it and leads back to the mark of the drawing that shows.
  const marksOf = (details) => (details.dataset.marks || "").split(" ").map((id) => document.getElementById(id)).filter(Boolean);
  const seen = (element) => element.getClientRects().length > 0;

  function open(details) {
    for (let outer = details; outer; outer = outer.parentElement.closest("details")) outer.open = true;
    one("summary", details).focus();
    details.scrollIntoView({ block: "start" });
  }

  function chosen(event) {
    const mark = event.target.closest("a.mark");
    return mark && document.getElementById(mark.getAttribute("aria-controls"));
  }

  document.addEventListener("click", (event) => {
    const details = chosen(event);
    if (!details) return;
    event.preventDefault();
    open(details);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === " " && chosen(event)) {
      event.preventDefault();
      open(chosen(event));
    }
    if (event.key !== "Escape") return;
    const inner = document.activeElement.closest("details[open]");
    if (!inner) return;
    inner.open = false;
    (marksOf(inner).find(seen) || one("summary", inner)).focus();
  });

  for (const details of all("details.compaction")) {
    details.addEventListener("toggle", () => {
      for (const mark of marksOf(details)) mark.setAttribute("aria-expanded", String(details.open));
    });
  }

  function openTarget() {
    const details = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (details && details.matches("details.compaction")) open(details);
  }
  window.addEventListener("hashchange", openTarget);

  // Paper shows what is short; of the long lists it shows how long they are, unless the reader has opened them.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = all("details.paper:not([open])");
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });

  // Two charts at a time, one request read out in figures, questions by how they were met.
  const layers = all("pattern").map((pattern) => pattern.id.slice(2));

  function session(root) {
    const readout = JSON.parse(one(".readout", root).textContent);
    const slots = all("select[data-slot]", root);
    const range = one(".reader input", root);
    const shown = () => slots.map((slot) => slot.value);

    function made(tag, text) {
      const element = document.createElement(tag);
      element.textContent = text;
      return element;
    }

    function reading(variant, row) {
      const line = document.createElement("li");
      line.append(made("b", variant));
      if (!row) {
        line.append(" made no such request");
        return line;
      }
      const figure = (n) => n.toLocaleString("en");
      const parts = layers.map((name, at) => [row[at + 3], name]).filter(([tokens]) => tokens);
      parts.sort(([a], [b]) => b - a);
      line.append(` ${figure(row[2])} ${row[2] === 1 ? "token" : "tokens"} `);
      const most = parts.map(([tokens, name]) => `${name} ${figure(tokens)}`).join(", ");
      const small = made("span", most && `(${most})`);
      small.className = "dim";
      line.append(small);
      return line;
    }

    function read() {
      const at = Number(range.value);
      const rows = Array.from(new Set(shown())).map((variant) => [variant, readout[variant][at]]);
      const known = rows.map(([, row]) => row).find((row) => row);
      const words = known ? `Turn ${known[0]}, request ${known[1]} of it` : "No request";
      one(".reader .at", root).textContent = words;
      one(".reader ul", root).replaceChildren(...rows.map(([variant, row]) => reading(variant, row)));
      range.setAttribute("aria-valuetext", words);
      for (const cursor of all(".cursor", root)) {
        const [left, right] = edges(cursor.ownerSVGElement);
        const x = left + (right - left) * (at + 0.5) / (Number(range.max) + 1);
        cursor.setAttribute("x1", x);
        cursor.setAttribute("x2", x);
        cursor.setAttribute("visibility", "visible");
      }
    }

    function edges(svg) {
      const grid = one(".grid", svg);
      return [Number(grid.getAttribute("x1")), Number(grid.getAttribute("x2"))];
    }

    function pointed(event) {
      if (event.target.closest("a.mark")) return;
      const svg = event.currentTarget;
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const [left, right] = edges(svg);
      const share = (point.x - left) / (right - left);
      if (share < 0 || share >= 1) return;
      range.value = String(Math.floor(share * (Number(range.max) + 1)));
      read();
    }

    function filter() {
      const choice = one(".filters input:checked", root);
      if (!choice) return;
      const below = shown()[1];
      let count = 0;
      const lines = all(".probes tbody tr", root);
      for (const line of lines) {
        const verdicts = all("td.v", line);
        const words = new Set(verdicts.filter((v) => shown().includes(v.dataset.variant)).map((v) => v.className));
        const met = verdicts.some((v) => v.dataset.variant === below && v.classList.contains("supported"));
        line.hidden = choice.value === "miss" ? met : choice.value === "differ" ? words.size < 2 : false;
        count += !line.hidden;
      }
      one(".filters output", root).textContent = `${count} of ${lines.length}`;
    }

    function choose() {
      const names = shown();
      const charts = one(".charts", root);
      for (const figure of all("figure.chart", charts)) figure.hidden = !names.includes(figure.dataset.variant);
      for (const list of all(".of-variant", root)) list.hidden = !names.includes(list.dataset.variant);
      for (const name of names) charts.append(one(`figure[data-variant="${CSS.escape(name)}"]`, charts));
      read();
      filter();
    }

    const counts = Object.values(readout).map((rows) => rows.length);
    range.max = String(Math.max(0, ...counts.map((n) => n - 1)));
    range.value = range.max;
    range.addEventListener("input", read);
    for (const slot of slots) slot.addEventListener("change", choose);
    for (const choice of all(".filters input", root)) choice.addEventListener("change", filter);
    for (const svg of all("figure.chart svg", root)) {
      svg.addEventListener("pointermove", pointed);
      svg.addEventListener("click", pointed);
    }
    for (const part of all(".pickers, .reader, .filters", root)) part.hidden = false;
    choose();
  }

  for (const root of all("section.session")) session(root);
  openTarget();
})();
