// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// What the pages share: their data, elements, numbers as text, plots, tooltips, controls, files to save. Texts of the
// data enter a page as text nodes and attributes only.
const page = (function() {
"use strict";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const COLOURS = 7;
const DASHES = 4;
const isKnown = (v) => v !== null && Number.isFinite(v);

// ---------------------------------------------------------------------------------------------- texts and elements

function element(name, properties, ...children) {
  const out = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key === "class") out.className = value;
    else if (key in out) out[key] = value;
    else out.setAttribute(key, value);
  }
  out.append(...children);
  return out;
}

function trimmed(x, digits) {
  return String(Number(x.toPrecision(digits))).replace(/e([+-])(\d)$/, "e$10$2");
}

function significant(x) {
  if (x === null) return "\u2013";
  if (!Number.isFinite(x)) return x > 0 ? "\u221e" : "-\u221e";
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-4 || size >= 1e6) ?
      x.toExponential(2).replace(/\.?0+e/, "e").replace("-", "\u2212").replace("e-", "e\u2212") :
      trimmed(x, 3).replace("-", "\u2212");
}

// Counts, with k, M, G, T as on the terminal.
function amount(x) {
  if (!isKnown(x)) return "\u2013";
  let unit = 0;
  while (Math.abs(x) >= 999.5 && unit < 4) {
    x /= 1000;
    ++unit;
  }
  return trimmed(x, 3) + ["", "k", "M", "G", "T"][unit];
}

const RAISED = {
  "-": "\u207b",
  0: "\u2070",
  1: "\u00b9",
  2: "\u00b2",
  3: "\u00b3",
  4: "\u2074",
  5: "\u2075",
  6: "\u2076",
  7: "\u2077",
  8: "\u2078",
  9: "\u2079"
};
const powerOfTen = (n) => "10" + String(n).replace(/./g, (c) => RAISED[c]);

const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");

// ------------------------------------------------------------------------------------------------------------ plots

const strokeOf = (n) => `s${n % COLOURS} d${Math.floor(n / COLOURS) % DASHES}`;
const fillOf = (n) => `f${n % COLOURS}`;

// A sample of a method's line.
function keyOf(n, isMuted = false) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "key");
  svg.setAttribute("viewBox", "0 0 24 10");
  svg.setAttribute("aria-hidden", "true");
  const look = strokeOf(n) + (isMuted ? " muted" : "");
  d3.select(svg).append("line").attr({x1: 0, x2: 24, y1: 5, y2: 5, "stroke-width": 3, class: look});
  return svg;
}

// What a path of these points is called besides: a point alone is a dot.
const dotted = (points) => (points.length === 1 ? " dot" : "");

// Puts a text into an element, with its powers of ten as in the tables; no line of it ends inside of a number or a
// flag, at its dash. Long names may break.
function write(id, text) {
  const whole = (part, n) => n % 2 === 1 && part.length < 24;
  byId(id).replaceChildren(
      ...text.replace(/(^|\s)(\d[\d.]*e)-0*(\d)/g, "$1$2\u2212$3")
          .split(/(\S*[-\u2212][-\d]\S*)/)
          .map((part, n) => (whole(part, n) ? element("span", {class: "beside"}, part) : part)));
}

// A sample of a line, and beside it the name and what is said of it.
const keyed = (look, name, ...more) =>
    element("span", {class: "keyed"}, keyOf(look), element("span", {}, name, ...more));

function widened([low, high]) {
  return low < high ? [low, high] : [low / 2, high * 2];
}

// Ticks of a logarithmic axis: decades while there are several, else round numbers.
function logAxis(scale, count) {
  const [low, high] = d3.extent(scale.domain());
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const axis = d3.svg.axis().scale(scale);
  if (last - first < 1) {
    const round = d3.range(first - 1, last + 1).flatMap((n) => [1, 2, 3, 5, 7].map((k) => Number(k + "e" + n)));
    const inside = round.filter((t) => t >= low && t <= high);
    const ticks = inside.length > 3 ? inside : d3.scale.linear().domain([low, high]).ticks(count);
    return axis.tickValues(ticks.filter((t) => t > 0)).tickFormat(significant);
  }
  const step = Math.max(1, Math.ceil((last - first) / count));
  return axis.tickValues(d3.range(first, last + 1).filter((n) => n % step === 0).map((n) => Math.pow(10, n)))
      .tickFormat((t) => powerOfTen(Math.round(Math.log10(t))));
}

const linearAxis = (scale, count) =>
    d3.svg.axis().scale(scale).ticks(count).tickFormat((t) => (t === 0 ? "0" : amount(t)));
const secondsAxis = (scale, count) => d3.svg.axis().scale(scale).ticks(count).tickFormat(significant);

const ticksOf = ({height}) => Math.max(3, Math.min(8, Math.round(height / 50)));

// What a plot leaves at its left: room for the longest number beside the title.
function leftMargin({y, yAxis, height}) {
  const axis = yAxis(y, ticksOf({height}));
  const numbers = (axis.tickValues() || y.ticks(ticksOf({height}))).map(axis.tickFormat());
  return Math.max(62, 38 + Math.ceil(d3.max(numbers, widthOf) || 0));
}

// An empty plot with axes, a grid and titles. Returns the layers to draw in.
function plot(figure, {left: leftRoom, right = 18, ...options}) {
  const {label, height, x, y, xAxis, yAxis, xTitle, yTitle} = options;
  const width = Math.max(280, figure.clientWidth || 800);
  const left = yAxis(y, ticksOf(options)).orient("left").outerTickSize(0);
  const margin = {top: 14, right, bottom: 46, left: leftRoom || leftMargin(options)};
  const inner = {width: width - margin.left - margin.right, height: height - margin.top - margin.bottom};
  figure.replaceChildren();
  const svg = d3.select(figure).append("svg").attr(
      {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label});
  svg.append("rect").attr({class: "ground", width, height});
  const root = svg.append("g").attr("transform", `translate(${margin.left},${margin.top})`);
  const clip = figure.id + "-clip";
  root.append("clipPath").attr("id", clip).append("rect").attr(inner);
  x.range([0, inner.width]);
  y.range([inner.height, 0]);
  const narrow = inner.width < 420;
  const bottom = xAxis(x, narrow ? 4 : 8).orient("bottom").outerTickSize(0);
  root.append("g")
      .attr("class", "grid")
      .call(left.innerTickSize(-inner.width).tickPadding(8))
      .selectAll("text")
      .remove();
  root.append("g").attr("class", "axis").attr("transform", `translate(0,${inner.height})`).call(bottom.tickPadding(6));
  root.append("g").attr("class", "axis").call(left.innerTickSize(4));
  root.append("text")
      .attr({class: "title", x: inner.width / 2, y: inner.height + 38, "text-anchor": "middle"})
      .text(xTitle);
  root.append("text")
      .attr({class: "title", transform: "rotate(-90)", x: -inner.height / 2, y: 14 - margin.left, "text-anchor": "middle"})
      .text(yTitle);
  const marks = root.append("g").attr("clip-path", `url(#${clip})`);
  return {svg, root, marks, inner, x, y};
}

// How wide a name is in a figure when it stands out: bold.
const pen = document.createElement("canvas").getContext("2d");
function widthOf(text) {
  pen.font = "bold 12px system-ui, sans-serif";
  return pen.measureText(text).width;
}

// A name as far as it fits.
function cut(name, width) {
  if (widthOf(name) <= width) return name;
  let end = name.length;
  while (end > 1 && widthOf(name.slice(0, end) + "\u2026") > width) --end;
  return name.slice(0, end) + "\u2026";
}

const LABEL = 15;  // from one label to the next
const LABEL_GAP = 10;
const hasLabels = (figure) => (figure.clientWidth || 800) >= 560;

// What labels beside a plot take of a figure's width: nothing where it is too narrow for them.
function labelRoom(figure, names) {
  if (!hasLabels(figure) || names.length === 0) return 18;
  return Math.min(0.3 * (figure.clientWidth || 800), LABEL_GAP + 6 + d3.max(names.map(widthOf)));
}

// Places from top to bottom, moved apart until no two labels overlap.
function apart(places, height) {
  const out = places.map((y) => Math.max(LABEL / 2, Math.min(height - LABEL / 2, y)));
  for (let n = 1; n < out.length; ++n) out[n] = Math.max(out[n], out[n - 1] + LABEL);
  let lowest = height - LABEL / 2;
  for (let n = out.length - 1; n >= 0; --n, lowest -= LABEL) out[n] = Math.min(out[n], lowest);
  return out;
}

// Where names can stand inside of a plot: so far above or below the ends of their lines, and so far to the right or to the
// left; near ones first, and rather further up or down than aside.
const DOWN = d3.range(-8, 9).map((n) => 14 * n);
const BESIDE = d3.range(LABEL_GAP, 200, 30)
                   .flatMap((across) => DOWN.map((down) => ({down, across, cost: 2 * across + Math.abs(down)})))
                   .sort((a, b) => a.cost - b.cost || a.down - b.down)
                   .flatMap((place) => [{...place, isLeft: false}, {...place, isLeft: true}]);
const endsInside = (end, inner) => end.x < 0.95 * inner.width;

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// A place for the name of a line that ends inside of a plot; undefined if all are taken.
function placeInside(end, {width, height}, isFree) {
  const long = widthOf(end.name);
  const boxes = BESIDE.map(({down, across, isLeft}) => {
    const left = end.x + (isLeft ? -across - long : across), middle = end.y + down;
    return {left, right: left + long, top: middle - LABEL / 2, bottom: middle + LABEL / 2, middle, isLeft};
  });
  return boxes.find(
      (box) => box.left > 0 && box.right < width && box.top >= 0 && box.bottom <= height && isFree(box));
}

// The names of lines that end inside of a plot, each with its place, and where the leader from its line's end arrives;
// without those that have no place.
function namesInside({inner}, ends, isFree) {
  const taken = [], out = [];
  for (const end of ends.filter((e) => endsInside(e, inner))) {
    const box = placeInside(end, inner, (b) => isFree(b) && !taken.some((other) => overlap(b, other)));
    if (!box) continue;
    taken.push({...box, left: box.left - LABEL_GAP, right: box.right + LABEL_GAP});
    out.push({...end, left: box.left, middle: box.middle, arrives: box.isLeft ? box.right + 3 : box.left - 3});
  }
  return out;
}

// The same of those that end at its right edge, as many as there is room for, first ones first.
function namesOutside({inner}, ends, room) {
  if (room <= 18) return [];
  const most = Math.max(1, Math.floor(inner.height / LABEL));
  const shown = ends.filter((end) => !endsInside(end, inner)).slice(0, most).sort((a, b) => a.y - b.y);
  const places = apart(shown.map((end) => end.y), inner.height);
  const left = inner.width + LABEL_GAP;
  return shown.map(
      (end, n) => ({...end, name: cut(end.name, room - LABEL_GAP - 2), left, middle: places[n], arrives: left - 3}));
}

// Names where lines end, each a key, a name, a look and that place: beside the plot, where `room` was left for them, or
// inside of it, in boxes that are free.
function endLabels(chart, room, ends, press, isFree = () => true) {
  const groups = chart.root.append("g")
                     .selectAll("g")
                     .data([...namesInside(chart, ends, isFree), ...namesOutside(chart, ends, room)])
                     .enter()
                     .append("g")
                     .attr("class", "end")
                     .attr("data-key", (end) => end.key);
  groups.append("path")
      .attr("class", (end) => `leader ${strokeOf(end.look)}`)
      .attr("d", (end) => `M${end.x},${end.y}L${end.arrives},${end.middle}`);
  const texts = groups.append("text")
                    .attr("class", (end) => fillOf(end.look))
                    .attr({x: (end) => end.left, y: (end) => end.middle + 4})
                    .text((end) => end.name);
  texts.append("title").text((end) => ends.find(({key}) => key === end.key).name);
  texts.on("click", (end) => press(end.key));
}

// The lines of a figure, of which one stands out, with its label: the one that is pointed at, else the chosen one, as
// `state` says. A line alone is lit without being asked for. Lines and labels have their key as data.
function spotlight(id, state) {
  const light = () => {
    const marks = d3.selectAll(`#${id} [data-key]`);
    const keys = [...new Set(marks[0].map((node) => node.dataset.key))];
    const found = [state.pointed, state.chosen].find((key) => keys.includes(key));
    const lit = keys.length === 1 ? keys[0] : found;
    marks.each(function() {
      const mine = this.dataset.key === lit;
      d3.select(this).classed({lit: mine, dim: Boolean(found) && !mine});
    });
  };
  const pointAt = (key) => {
    state.pointed = key;
    light();
  };
  const toggleChosen = (key) => {
    state.chosen = state.chosen === key ? null : key;
    light();
  };
  return {light, pointAt, toggleChosen};
}

// --------------------------------------------------------------------------------------------------- tips and tables

function tip(event, ...content) {
  const box = byId("tooltip");
  box.replaceChildren(...content);
  box.hidden = false;
  const {width, height} = box.getBoundingClientRect();
  const left =
      event.clientX + 18 + width < window.innerWidth ? event.clientX + 18 : Math.max(4, event.clientX - width - 18);
  box.style.left = left + "px";
  box.style.top = Math.max(4, Math.min(event.clientY + 12, window.innerHeight - height - 4)) + "px";
}

function hideTip() {
  byId("tooltip").hidden = true;
  d3.selectAll(".cross").remove();
}

// A line across a plot where the pointer is, and the values of the plot's lines there: look, name and value of each.
function tipAcross(chart, left, title, rows, at = d3.event) {
  chart.root.selectAll(".cross").remove();
  chart.root.append("line").attr({class: "cross", x1: left, x2: left, y1: 0, y2: chart.inner.height});
  tip(at, element("strong", {}, title),
      ...rows.map(
          ([look, name, value]) =>
              element("div", {}, element("span", {}, keyOf(look), name), element("b", {}, value))));
}

// Shows a tip while the pointer is over a plot.
function follow(chart, showTip) {
  chart.marks.append("rect")
      .attr({class: "background", width: chart.inner.width, height: chart.inner.height, fill: "transparent"})
      .on("mousemove", showTip)
      .on("mouseleave", hideTip);
}

function table(target, columns, rows) {
  const head = columns.map(([title, , isText]) => element("th", {scope: "col", class: isText ? "text" : ""}, title));
  const body = rows.map(
      (row) => element(
          "tr", {}, ...columns.map(([, text, isText]) => element("td", {class: isText ? "text" : ""}, text(row)))));
  target.replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

const pairs = (rows) => element(
    "tbody", {},
    ...rows.map(([key, value]) => element("tr", {}, element("th", {scope: "row"}, key), element("td", {}, value))));

function showPairs(id, rows) {
  byId(id).replaceChildren(pairs(rows));
}

// A small table for each group of settings, folded; `toml` is what the button copies.
function showSettings(settings, toml = "") {
  byId("settings").hidden = false;
  byId("settings-summary").textContent = `Show all ${d3.sum(settings, (group) => group.rows.length)} settings`;
  byId("settings-groups")
      .replaceChildren(...settings.map(
          (group) => element(
              "div", {}, element("h3", {}, group.title), element("table", {class: "plain"}, pairs(group.rows)))));
  byId("copy").hidden = toml === "";
  byId("copy").onclick = () => copy(toml).then((done) => told(byId("copy"), done ? "Copied" : "Cannot copy here"));
}

// Says something in the place of a button's text, for a moment.
function told(button, text) {
  const before = button.textContent;
  button.textContent = text;
  button.disabled = true;
  setTimeout(() => Object.assign(button, {textContent: before, disabled: false}), 1500);
}

// Puts a text on the clipboard: true if that is allowed. Where browsers keep the new way from files, there is the
// old.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (_) {
    const area = element("textarea", {value: text});
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function showProvenance(rows) {
  byId("provenance").hidden = rows.length === 0;
  showPairs("provenance-table", rows);
}

// -------------------------------------------------------------------------------------------------------- controls

// Radio buttons for the fieldset `id`: keys and titles, one of them chosen. None where there is nothing to choose.
function choice(id, options, chosen, change) {
  for (const label of byId(id).querySelectorAll("label")) label.remove();
  byId(id).hidden = options.length < 2;
  byId(id).append(...options.map(([key, title]) => {
    const input = element("input", {type: "radio", name: id, value: key, checked: key === chosen});
    input.addEventListener("change", () => change(key));
    return element("label", {}, input, element("span", {}, title));
  }));
}

// A box that scrolls fades out where more follows at the right.
function fading(box) {
  const mark = () => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  box.addEventListener("scroll", mark);
  const sizes = new ResizeObserver(mark);
  for (const sized of [box, ...box.children]) sizes.observe(sized);
  return box;
}

// Buttons that hide and show the lines of a figure, each a key, a name, a look, whether it is muted, and its group, if
// any, which has a row of its own; a remark may stand behind a name. Calls `point` with the key that is pointed at or
// in focus, or null if there is none.
function legend(lines, {hidden, draw, remark = () => "", point = () => {}}) {
  const buttons = lines().map((line, n) => {
    const {key, name, look, muted} = line;
    const button =
        element("button", {type: "button", "aria-pressed": String(!hidden.has(key))}, keyOf(look, muted), name);
    const note = remark(line);
    if (note) button.append(element("small", {}, note));
    button.addEventListener("click", () => {
      if (!hidden.delete(key)) hidden.add(key);
      legend(lines, {hidden, draw, remark, point});
      draw();
      byId("legend").querySelectorAll("button")[n].focus();
    });
    for (const type of ["mouseenter", "focus"]) button.addEventListener(type, () => point(key));
    for (const type of ["mouseleave", "blur"]) button.addEventListener(type, () => point(null));
    return button;
  });
  const groups = [...new Set(lines().map(({group}) => group))];
  byId("legend").replaceChildren(...groups.map((group) => {
    const head = group ? [element("span", {}, group)] : [];
    const mine = buttons.filter((_, n) => lines()[n].group === group);
    if (!group) return element("div", {}, ...head, ...mine);
    return fading(element("div", {class: "scroll", role: "group", "aria-label": group}, ...head, ...mine));
  }));
}

function nextTheme() {
  const themes = ["system", "light", "dark"];
  const root = document.documentElement;
  const next = themes[(themes.indexOf(root.dataset.theme || "system") + 1) % themes.length];
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  byId("theme").textContent = "Theme: " + next;
}

// ------------------------------------------------------------------------------------------------------- downloads

const DRAWN = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
  "stroke-linecap", "font-family", "font-size", "text-anchor", "paint-order", "display"
];

// Copies what style sheets gave each element into attributes, so that the figure stands alone.
function settle(from, to) {
  const style = getComputedStyle(from);
  for (const name of DRAWN) {
    const value = style.getPropertyValue(name);
    if (value) to.setAttribute(name, value);
  }
  to.removeAttribute("class");
  to.removeAttribute("style");
  for (let n = 0; n < from.children.length; ++n) settle(from.children[n], to.children[n]);
}

// A figure of the page as a file of its own, always in the light colours, with the lines it is to explain below it:
// each a look and a name, and whether it is muted.
function figureText(id, lines) {
  const theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  const shown = byId(id).querySelector("svg");
  const marked = shown.cloneNode(true);
  byId(id).append(marked);
  d3.select(marked).selectAll(".brush,.cross").remove();
  if (lines && lines.length > 0) addLegend(d3.select(marked), lines);
  const out = marked.cloneNode(true);
  settle(marked, out);
  marked.remove();
  if (theme === undefined) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  out.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(out);
}

// In as many columns as the figure has room for.
function addLegend(svg, lines) {
  const width = Number(svg.attr("width")), height = Number(svg.attr("height"));
  const left = 62, column = 38 + 24 + d3.max(lines.map((c) => widthOf(c.name)));
  const rows = Math.ceil(lines.length / Math.max(1, Math.floor((width - left) / column)));
  const all = height + 20 * rows + 10;
  svg.attr({height: all, viewBox: `0 0 ${width} ${all}`}).select(".ground").attr("height", all);
  const entries = svg.append("g").selectAll("g").data(lines).enter().append("g").attr(
      "transform", (_, n) => `translate(${left + column * Math.floor(n / rows)},${height + 10 + 20 * (n % rows)})`);
  entries.append("line").attr("class", (c) => `line ${strokeOf(c.look)}${c.muted ? " muted" : ""}`).attr(
      {x1: 0, x2: 28, y1: 0, y2: 0});
  entries.append("text").attr({class: "title", x: 38, y: 4}).text((c) => c.name);
}

// Offers a file that is named after `title`.
function save(blob, title, name) {
  const stem = title.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 60) || "experiment";
  const link = element("a", {href: URL.createObjectURL(blob), download: `${stem}-${name}`});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function savePng(text, title, name) {
  const picture = new Image();
  picture.onload = () => {
    const canvas = element("canvas", {width: picture.width * 2, height: picture.height * 2});
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, title, name), "image/png");
  };
  picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

const csvCell = (v) =>
    (v === null                     ? "nan" :
         v === Infinity             ? "inf" :
         /[",\r\n]/.test(String(v)) ? `"${String(v).replace(/"/g, '""')}"` :
                                      String(v));
const csv = (rows) => rows.map((row) => row.map(csvCell).join(",") + "\n").join("");

// Saves a figure (svg, png) or a table (csv) by the name of its file, where there is one.
function saveAs(name, {title, tables, lines}) {
  const [what, kind] = name.split(".");
  if (kind === "csv") {
    const rows = tables[what]();
    if (rows) save(new Blob([csv(rows)], {type: "text/csv"}), title(), name);
  } else if (byId(what + "-figure").querySelector("svg")) {
    const text = figureText(what + "-figure", lines[what] && lines[what]());
    if (kind === "png") savePng(text, title(), name);
    else save(new Blob([text], {type: "image/svg+xml"}), title(), name);
  }
}

// -------------------------------------------------------------------------------------------------------- the frame

// What every page does: themes, buttons that save files, tables that fade out where more follows at the right, and
// drawing again when the width changes. Files are named after `title`; `tables` gives a table's rows by its name,
// `lines` those that a saved figure explains.
function start({draw, ...files}) {
  byId("theme").addEventListener("click", nextTheme);
  for (const tools of document.querySelectorAll("[data-files]")) {
    tools.append(...tools.dataset.files.split(" ").map((name) => {
      const kind = name.split(".")[1].toUpperCase();
      const button = element("button", {type: "button", class: "quiet", "data-save": name}, kind);
      button.addEventListener("click", () => saveAs(name, files));
      return button;
    }));
  }
  for (const box of document.querySelectorAll(":not(#legend) > .scroll")) fading(box);
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (width === window.innerWidth) return;
    width = window.innerWidth;
    draw();
  });
}

return {
  data, COLOURS, DASHES, byId, isKnown, element, write, significant, amount, plural, strokeOf, fillOf, keyOf, keyed,
  dotted, widened, logAxis, linearAxis, secondsAxis, leftMargin, plot, widthOf, labelRoom, hasLabels, overlap,
  endsInside, endLabels, spotlight, tip, hideTip, tipAcross, follow, table, showPairs, showSettings, showProvenance,
  choice, legend, start
};
})();
