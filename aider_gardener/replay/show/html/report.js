"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const one = (selector, root = document) => root.querySelector(selector);

  // Compactions: a mark opens its list, Escape closes it and leads back.
  const markOf = (details) => document.getElementById(details.dataset.mark);

  function open(details) {
    details.open = true;
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
    const mark = inner.dataset.mark && markOf(inner);
    if (mark && mark.closest("figure").hidden === false) mark.focus();
    else one("summary", inner).focus();
  });

  for (const details of all("details.compaction")) {
    details.addEventListener("toggle", () => {
      const mark = markOf(details);
      if (mark) mark.setAttribute("aria-expanded", String(details.open));
    });
  }

  function openTarget() {
    const details = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (details && details.matches("details.compaction")) open(details);
  }
  window.addEventListener("hashchange", openTarget);

  // Two charts at a time, one request read out in figures, probes by how they were met.
  function session(root) {
    const readout = JSON.parse(one(".readout", root).textContent);
    const slots = all("select[data-slot]", root);
    const range = one(".reader input", root);
    const table = one(".reader table", root);
    const layers = all("thead th", table).length - 2;
    const shown = () => slots.map((slot) => slot.value);

    function cell(tag, text, numeric) {
      const made = document.createElement(tag);
      made.textContent = text;
      if (numeric) made.className = "n";
      if (tag === "th") made.scope = "row";
      return made;
    }

    function read() {
      const at = Number(range.value);
      const rows = Array.from(new Set(shown())).map((variant) => [variant, readout[variant][at]]);
      const known = rows.map(([, row]) => row).find((row) => row);
      one("caption", table).textContent = known ? `turn ${known[0]}, request ${known[1]} of it` : "no request";
      one("tbody", table).replaceChildren(...rows.map(([variant, row]) => {
        const line = document.createElement("tr");
        const figures = row ? row.slice(2) : Array(layers + 1).fill(null);
        line.append(cell("th", variant), ...figures.map((n) => cell("td", n === null ? "–" : n.toLocaleString("en"), true)));
        return line;
      }));
      range.setAttribute("aria-valuetext", one("caption", table).textContent);
      const count = Number(range.max) + 1;
      for (const cursor of all(".cursor", root)) {
        const [, , width] = cursor.ownerSVGElement.getAttribute("viewBox").split(" ").map(Number);
        const left = Number(one(".grid", cursor.ownerSVGElement).getAttribute("x1"));
        const right = Number(one(".grid", cursor.ownerSVGElement).getAttribute("x2"));
        const x = left + (right - left) * (at + 0.5) / count;
        if (x > width) continue;
        cursor.setAttribute("x1", x);
        cursor.setAttribute("x2", x);
        cursor.setAttribute("visibility", "visible");
      }
    }

    function filter() {
      const chosen = one(".filters input:checked", root);
      if (!chosen) return;
      const below = shown()[1];
      let count = 0;
      const lines = all(".probes tbody tr", root);
      for (const line of lines) {
        const verdicts = all("td.v", line);
        const words = new Set(verdicts.filter((v) => shown().includes(v.dataset.variant)).map((v) => v.className));
        const met = verdicts.some((v) => v.dataset.variant === below && v.classList.contains("supported"));
        line.hidden = chosen.value === "miss" ? met : chosen.value === "differ" ? words.size < 2 : false;
        count += !line.hidden;
      }
      one(".filters output", root).textContent = `${count} of ${lines.length}`;
    }

    function choose() {
      const names = shown();
      const charts = one(".charts", root);
      for (const figure of all("figure.chart", charts)) figure.hidden = !names.includes(figure.dataset.variant);
      for (const list of all(".compactions", root)) list.hidden = !names.includes(list.dataset.variant);
      for (const name of names) charts.append(one(`figure[data-variant="${CSS.escape(name)}"]`, charts));
      read();
      filter();
    }

    const counts = Object.values(readout).map((rows) => rows.length);
    range.max = String(Math.max(0, ...counts.map((n) => n - 1)));
    range.addEventListener("input", read);
    for (const slot of slots) slot.addEventListener("change", choose);
    for (const choice of all(".filters input", root)) choice.addEventListener("change", filter);
    for (const svg of all("figure.chart svg", root)) {
      svg.addEventListener("click", (event) => {
        if (event.target.closest("a.mark")) return;
        const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        const grid = one(".grid", svg);
        const left = Number(grid.getAttribute("x1"));
        const share = (point.x - left) / (Number(grid.getAttribute("x2")) - left);
        range.value = String(Math.floor(share * (Number(range.max) + 1)));
        read();
      });
    }
    for (const part of all(".pickers, .reader, .filters", root)) part.hidden = false;
    choose();
  }

  for (const root of all("section.session")) session(root);
  openTarget();
})();
