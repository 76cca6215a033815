// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Draws report.html from the data in it, with what common.js gives.
(function() {
"use strict";

const {
  data,
  COLOURS,
  DASHES,
  byId,
  isKnown,
  element,
  write,
  significant,
  amount,
  plural,
  strokeOf,
  fillOf,
  keyOf,
  keyed,
  dotted,
  widened,
  logAxis,
  linearAxis,
  secondsAxis,
  leftMargin,
  plot,
  widthOf,
  labelRoom,
  hasLabels,
  overlap,
  endsInside,
  endLabels,
  spotlight,
  tip,
  hideTip,
  tipAcross,
  table,
  showSettings,
  showProvenance,
  choice,
  legend,
  start
} = page;

const {measures: MEASURES, costs: COSTS} = data;
// Viridis: even steps of lightness, readable by colour-blind readers.
const VIRIDIS =
    ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

const ALL = -1;     // in place of an experiment's number
const FRAME = 110;  // milliseconds from one recorded time to the next

const state = {
  experiment: data.experiments.length > 1 ? ALL : 0,
  measure: "",
  cost: "",
  logX: false,
  hidden: new Set(),
  chosen: null,   // the line whose band is shown
  pointed: null,  // the line that the pointer is at, or that has the focus
  pointer: null,  // where the pointer is on the chart
  zoom: null,
  method: 0,
  colour: null,
  time: Infinity,
  playing: null,
  sort: {key: "place", down: false},
};

// The one experiment that is shown, or the first of all.
const experiment = () => data.experiments[Math.max(0, state.experiment)];
const isTogether = () => state.experiment === ALL;
const shownExperiments = () => (isTogether() ? data.experiments : [experiment()]);

// All lines of the experiments that are shown. Together, methods of one name share a colour, and each experiment has
// dashes of its own, unless two lines would then look alike.
function lines() {
  const names = [...new Set(shownExperiments().flatMap((e) => e.methods.map((m) => m.name)))];
  const all = shownExperiments().flatMap((of, e) => of.methods.map((method, m) => ({of, e, method, m})));
  const paired = all.map(({e, method}) => (names.indexOf(method.name) % COLOURS) + COLOURS * (e % DASHES));
  const unlike = isTogether() && new Set(paired).size === all.length;
  return all.map(({of, e, method, m}, index) => ({
                   key: `${e}/${m}`,
                   index,
                   of,
                   method,
                   name: isTogether() ? `${of.name}: ${method.name}` : method.name,
                   look: unlike ? paired[index] : index,
                 }));
}

const named = (list, key) => list.find((entry) => entry.key === key);
const capitalised = (label) => label[0].toUpperCase() + label.slice(1);
// The target that the curves are compared with, if there is one, and one for all.
function shownTarget() {
  const [target, ...others] = new Set(shownExperiments().map((e) => e.target));
  return named(MEASURES, state.measure).to_target && target > 0 && others.length === 0 ? target : null;
}

// What a logarithmic axis can show of a measure or a cost is there for some line.
const hasMeasure = ({key}) =>
    lines().some(({method}) => method.curves.y[key] && method.curves.y[key].median.some((y) => isKnown(y) && y > 0));
const hasCost = ({key}) => lines().some(({method}) => method.curves.x[key].some((x) => isKnown(x) && x > 0));
// The entries with something to show; the first one where nothing has.
function offered(list, has) {
  const found = list.filter(has);
  return found.length > 0 ? found : list.slice(0, 1);
}

// ------------------------------------------------------------------------------------------------------ the header

function settingOf(title, key) {
  const group = experiment().settings.find((g) => g.title === title);
  const row = group && group.rows.find((r) => r[0] === key);
  return row ? row[1] : null;
}

function factsOf(shown) {
  const agents = shown.network ? String(shown.network.agents) : settingOf("[graph]", "agents");
  const dimension = settingOf("[problem]", "dimension");
  return [
    agents && plural(Number(agents), "agent"),
    settingOf("[graph]", "topology"),
    settingOf("[problem]", "loss") || settingOf("[problem]", "source"),  // a problem of one's own has no loss
    dimension && dimension !== "0" && "dimension " + dimension,
    plural(shown.methods.length, "method"),
    plural(shown.seeds, "seed"),
  ];
}

function showHeader() {
  const shown = experiment();
  byId("title").textContent = isTogether() ? `${data.experiments.length} experiments` : shown.name;
  const facts = isTogether() ? ["Choose one to see its network, its steps and its settings."] : factsOf(shown);
  byId("facts").textContent = facts.filter(Boolean).join(" \u00b7 ");
  byId("headline").hidden = isTogether();
  write("headline", shown.headline);
}

function showExperiments() {
  const nav = byId("experiments");
  nav.hidden = data.experiments.length < 2;
  const entries = [[ALL, "All together", ""], ...data.experiments.map((e, n) => [n, e.name, e.headline])];
  nav.replaceChildren(...entries.map(([n, name, title]) => {
    const button = element("button", {type: "button", title}, name);
    button.setAttribute("aria-current", String(n === state.experiment));
    button.addEventListener("click", () => choose(n));
    return button;
  }));
}

function choose(n) {
  stop();
  Object.assign(state, {experiment: n, zoom: null, chosen: null, colour: null, time: Infinity, hidden: new Set()});
  showAll();
  byId("experiments").querySelector("[aria-current=true]").focus();
}

// ----------------------------------------------------------------------------------------------------- the ranking

// In the order in which a narrow screen shows them.
const SPREADS = [
  ["iterations", "Iterations", amount], ["final_risk", "Final risk", risk], ["vectors", "Vectors", amount],
  ["evaluations", "Evaluations", amount], ["seconds", "Seconds", (x) => (isKnown(x) ? significant(x) : "\u2013")],
  ["final_risk_averaged", "Averaged", risk]
];

// An excess risk; 0 where it is below what rounding lets anyone know, as in the terminal's table.
function risk(x, of) { return isKnown(x) && (x <= 0 || x < of.risk_floor) ? "0" : significant(x); }

// What such a 0 means; "" where there is none.
function zeroNote() {
  const hasZero = (of) => of.ranking.some(
      (s) => s.runs > 0 && [...s.final_risk, ...s.final_risk_averaged].some((x) => isKnown(x) && x < of.risk_floor));
  const [worst] = shownExperiments().filter(hasZero).sort((a, b) => b.risk_floor - a.risk_floor);
  return worst ? ` 0: ${worst.floor_text}.` : "";
}

// The same words as the terminal's table.
function remark(s) {
  const words = [];
  if (s.runs > 0) {
    if (s.diverged === s.runs) words.push("diverged");
    else if (s.diverged > 0) words.push(`${s.diverged} of ${s.runs} diverged`);
    else if (s.below_rounding) words.push("target below rounding");
    else if (s.reached === 0) words.push("target not reached");
    else if (s.reached < s.runs) words.push(`${s.reached} of ${s.runs} reached the target`);
  }
  const all = s.runs + s.unfinished + s.failed;
  for (const what of ["failed", "unfinished"]) {
    if (s[what] > 0) words.push(s[what] === all ? what : `${s[what]} of ${all} ${what}`);
  }
  return words.join(", ");
}

const hasAverage = (s) => s.runs > 0 && s.final_risk_averaged[1] !== null && isKnown(s.final_risk_averaged[1]);

// Which of its two models to take, and in how many runs that one was the better.
function takeCell(s) {
  if (!hasAverage(s)) return element("td", {class: "take"}, "\u2013");
  const cell = element("td", {class: "take"}, s.recommended);
  const better = s.recommended === "averaged" ? s.averaged_better : s.runs - s.averaged_better;
  if (s.runs > 1) cell.append(element("small", {}, `on ${better} of ${s.runs}`));
  return cell;
}

function rankingRows() {
  const all = lines();
  return shownExperiments()
      .flatMap((of) => of.ranking.map((standing, n) => ({of, standing, place: n + 1})))
      .map(({of, standing: s, place}) => {
        const line = all.find((l) => l.of === of && l.method.name === s.method);
        return {
          place,
          method: s.method,
          look: line ? line.look : 0,
          remark: remark(s),
          take: hasAverage(s) ? s.recommended : "",
          standing: s,
          of,
          ...Object.fromEntries(SPREADS.map(([key]) => [key, s.runs > 0 ? s[key][1] : null])),
        };
      });
}

function sorted(rows) {
  const {key, down} = state.sort;
  // Median cost, then the place: an endless cost stands last either way.
  const compare = (a, b) => {
    const [x, y] = [a[key], b[key]];
    if (typeof x === "string") return (down ? -1 : 1) * x.localeCompare(y);
    if (!isKnown(x) || !isKnown(y)) return Number(!isKnown(x)) - Number(!isKnown(y));
    return (down ? -1 : 1) * (x - y);
  };
  return rows.sort((a, b) => compare(a, b) || a.place - b.place);
}

function spreadCell(key, format, {standing, of}) {
  const [low, median, high] = standing.runs > 0 ? standing[key] : [null, null, null];
  const cell = element("td", {title: median === null ? "" : String(median)}, format(median, of));
  cell.dataset.value = String(median);
  const range = isKnown(low) ? [format(low, of), isKnown(high) ? format(high, of) : "\u221e"] : [];
  if (standing.runs > 1 && range[0] !== range[1]) cell.append(element("small", {}, range.join(" to ")));
  return cell;
}

function headerCell(key, title, isText) {
  const button = element("button", {type: "button"}, title);
  const cell = element("th", {scope: "col", class: isText ? "text" : ""}, button);
  if (state.sort.key === key) cell.setAttribute("aria-sort", state.sort.down ? "descending" : "ascending");
  button.addEventListener("click", () => {
    state.sort = {key, down: state.sort.key === key && !state.sort.down};
    showRanking();
    byId("ranking-table").querySelector("th[aria-sort] button").focus();
  });
  return cell;
}

// The method, and below it what went wrong with its runs.
function methodCell(row) {
  const below = row.remark ? [element("small", {class: "remark"}, row.remark)] : [];
  return element("td", {class: "text method"}, keyed(row.look, row.method, ...below));
}

const rankingRow = (row) => element(
    "tr", {}, element("td", {}, String(row.place)), methodCell(row),
    ...SPREADS.map(([key, , format]) => spreadCell(key, format, row)), takeCell(row.standing));

// The rows of an experiment, below its name where there are several.
function rankingGroup(of, rows) {
  const name = element("th", {scope: "colgroup", class: "text", colSpan: SPREADS.length + 3}, of.name);
  const head = isTogether() ? [element("tr", {class: "group"}, name)] : [];
  return element("tbody", {}, ...head, ...rows.filter((row) => row.of === of).map(rankingRow));
}

function showRanking() {
  const head = element(
      "tr", {}, headerCell("place", "#"), headerCell("method", "Method", true),
      ...SPREADS.map(([key, title]) => headerCell(key, title)), headerCell("take", "Take", true));
  const rows = sorted(rankingRows());
  byId("ranking-table")
      .replaceChildren(element("thead", {}, head), ...shownExperiments().map((of) => rankingGroup(of, rows)));
  const isPartial = shownExperiments().some((e) => e.ranking.some((s) => s.unfinished > 0));
  const severalSeeds = shownExperiments().some((e) => e.seeds > 1);
  const seeds = isTogether() ? "the seeds" : plural(experiment().seeds, "seed");
  const target = isTogether() ? "the experiment's target" : `an excess risk of ${significant(experiment().target)}`;
  const medians = `Medians over ${isPartial ? "the runs that have ended" : seeds}, with 10% and 90% quantiles below. `;
  write("ranking-note", (severalSeeds ? medians : "Each method has one run. ") +
      `Iterations, vectors, evaluations and seconds are those until ${
                                         target} is reached. Final risk: the excess risk ` +
      "of the last iterates; averaged: that of the averaged iterates. Take: the one with the lower " +
      (severalSeeds ? "median, and the number of runs in which it is no worse than the other. " : "risk. ") +
      "Click a heading to sort." + zeroNote());
  write("recommendation", isTogether() ? "" : experiment().recommendation);
  const advice = isTogether() ? [] : experiment().advice;
  byId("advice").replaceChildren(...advice.map((text) => element("p", {class: "remark"}, text)));
}

// ------------------------------------------------------------------------------------------------------ the curves

// A method's curve as points, as far as x can be drawn.
function points(method, measure, cost) {
  const xs = method.curves.x[cost];
  const y = method.curves.y[measure];
  if (!y) return [];
  return xs.map((x, n) => ({x, low: y.low[n], median: y.median[n], high: y.high[n]}))
      .filter((p) => isKnown(p.x) && p.median !== null && !(state.logX && p.x <= 0));
}

function shownCurves() {
  return lines()
      .map((line) => ({...line, points: points(line.method, state.measure, state.cost)}))
      .filter((c) => !state.hidden.has(c.key) && c.points.length > 0);
}

// All values that an axis must hold, positive and finite ones only.
const positive = (values) => values.filter((v) => isKnown(v) && v > 0);

function riskDomain(curves) {
  const medians = positive(curves.flatMap((c) => c.points.map((p) => p.median)));
  if (medians.length === 0) return [1e-6, 1];
  const band = positive(curves.flatMap((c) => c.points.flatMap((p) => [p.low, p.high])));
  const first = d3.max(positive(curves.map((c) => c.points[0].median))) || d3.max(medians);
  // One lucky or diverging seed shall not squeeze all the others, nor shall bands that fall into what is rounding next to
  // the risk at the start.
  const lowest = d3.min(medians);
  const bottom = Math.max(d3.min(band.concat(medians)), lowest / 1e4, Math.min(lowest / 2, Number.EPSILON * first));
  const top = Math.min(d3.max(band.concat(medians)), first * 1e3);
  return widened(d3.extent([bottom, Math.max(top, first)].concat(shownTarget() || [])));
}

// As far as anything is drawn: where all bands have fallen to 0, nothing is.
function costDomain(curves) {
  const xs = curves.flatMap((c) => c.points.filter(passed(c.points, (p) => p.high)).map((p) => p.x))
                 .concat(curves.flatMap((c) => c.method.diverged.map((d) => d[state.cost])))
                 .filter((x) => !state.logX || x > 0);
  if (xs.length === 0) return state.logX ? [1, 10] : [0, 1];
  const [low, high] = d3.extent(xs);
  return state.logX ? widened([low, high]) : [0, high > 0 ? high : 1];
}

// Where a value stands, or just outside of the plot when a logarithmic axis has no place for it.
function placed(scale, height) {
  return (v) => (v === Infinity ? -30 : v > 0 ? Math.max(-1e4, Math.min(1e4, scale(v))) : height + 30);
}

// Says of the points of a line which ones it passes: those above 0, and the one where it falls to 0 for good and leaves
// the plot.
function passed(points, valueOf) {
  const isAbove = (p) => isKnown(valueOf(p)) && valueOf(p) > 0;
  const fall = points.findLastIndex(isAbove) + 1;
  return (p, n) => isAbove(p) || (n === fall && n > 0 && valueOf(p) === 0);
}

const ARM = 6;  // of a cross

// Where the crosses of a curve stand, at the top: all of a cross is inside of the plot, if its place is.
function crossesOf(chart, curve) {
  const inside = (x) => (x < 0 || x > chart.inner.width ? x : Math.max(ARM, Math.min(chart.inner.width - ARM, x)));
  return curve.method.diverged.filter((d) => !state.logX || d[state.cost] > 0)
      .map((d) => ({...d, x: inside(chart.x(d[state.cost])), y: 8 + 10 * (curve.index % 5)}));
}

// The points of a band: where a tenth of the runs has diverged, it goes off the top and ends.
function bandOf(points) {
  const end = points.findIndex((p) => p.high === Infinity);
  return end < 0 ? points : points.slice(0, end + 1);
}

function drawCurve(chart, curve) {
  const y = placed(chart.y, chart.inner.height);
  const x = (p) => chart.x(p.x);
  const group = chart.marks.append("g").attr({class: "curve", "data-method": curve.index, "data-key": curve.key});
  const area = d3.svg.area().x(x).y0((p) => y(p.low)).y1((p) => y(p.high)).defined((p) => isKnown(p.low));
  const line = d3.svg.line().x(x).y((p) => y(p.median)).defined(passed(curve.points, (p) => p.median));
  group.append("path").attr("class", `band ${fillOf(curve.look)}`).attr("d", area(bandOf(curve.points)) || "M0,0");
  group.append("path")
      .attr("class", `line ${strokeOf(curve.look)}${dotted(curve.points)}`)
      .attr("d", line(curve.points) || "M0,0");
  const cross = "M-4,-4L4,4M-4,4L4,-4";
  group.selectAll(".lost")
      .data(crossesOf(chart, curve))
      .enter()
      .append("path")
      .attr("class", `lost ${strokeOf(curve.look)}`)
      .attr("d", cross)
      .attr("transform", ({x, y}) => `translate(${x},${y})`)
      .append("title")
      .text((d) => `${curve.name}: seed ${d.seed} diverged by iteration ${d.iterations}`);
}

// Whether no curve passes a box of the plot.
function isFree(chart, curves, {left, right, top, bottom}) {
  const y = placed(chart.y, chart.inner.height);
  return curves.every(({points}) => {
    const drawn = points.filter(passed(points, (p) => p.median)).map((p) => ({x: chart.x(p.x), y: y(p.median)}));
    return drawn.every((to, n) => {
      const from = drawn[Math.max(0, n - 1)];
      if (to.x < left || from.x > right) return true;
      // The part of the piece between the box's sides.
      const heights = [left, right].map((x) => {
        const share = to.x > from.x ? Math.max(0, Math.min(1, (x - from.x) / (to.x - from.x))) : 1;
        return from.y + share * (to.y - from.y);
      });
      return d3.max(heights) < top || d3.min(heights) > bottom;
    });
  });
}

// The target's name stands on its line or, if every place there hides a curve, below it; at the right if no curve is
// there. Returns the boxes of both.
function drawTarget(chart, curves) {
  const target = shownTarget();
  if (target === null) return [];
  const y = chart.y(target);
  if (y < 0 || y > chart.inner.height) return [];
  const group = chart.root.append("g").attr("class", "target");
  group.append("line").attr({x1: 0, x2: chart.inner.width, y1: y, y2: y});
  const name = "target " + significant(target);
  const width = widthOf(name), last = chart.inner.width - 4 - width;
  const places = d3.range(20, -1, -1).map((n) => 4 + (n / 20) * (last - 4));
  const boxes = [{top: y - 16, bottom: y - 1, base: y - 5}, {top: y + 1, bottom: y + 17, base: y + 13}].flatMap(
      (row) => places.map((left) => ({...row, left, right: left + width})));
  const inside = boxes.filter(({top, bottom}) => top >= 0 && bottom <= chart.inner.height);
  const box = inside.find((b) => isFree(chart, curves, b)) || boxes[0];
  group.append("text").attr({x: box.left, y: box.base}).text(name);
  return [box, {left: 0, right: chart.inner.width, top: y - 1, bottom: y + 1}];
}

let chart = null;

// Where a curve ends inside of the plot; null where all of it is outside.
function endOf(on, curve) {
  const y = placed(on.y, on.inner.height);
  const inside = curve.points.filter(passed(curve.points, (p) => p.median))
                     .filter((p) => on.x(p.x) >= -1 && on.x(p.x) <= on.inner.width + 1);
  if (inside.length === 0) return null;
  const last = inside[inside.length - 1];
  return {...curve, x: on.x(last.x), y: Math.max(0, Math.min(on.inner.height, y(last.median)))};
}

// The names of the curves that end at the right of a plot with these axes, whatever its size.
function namesAtRight(x, y, curves) {
  const inner = {width: 1000, height: 500};
  const on = {x: x.copy().range([0, inner.width]), y: y.copy().range([inner.height, 0]), inner};
  return curves.map((c) => endOf(on, c)).filter((end) => end && !endsInside(end, inner)).map((end) => end.name);
}

// Where lines end are their names, which hide no curve, no cross and no target.
function drawNames(chart, room, curves, target) {
  if (!hasLabels(byId("curves-figure"))) return;
  const crosses = curves.flatMap((c) => crossesOf(chart, c))
                      .map(({x, y}) => ({left: x - ARM, right: x + ARM, top: y - ARM, bottom: y + ARM}));
  const fixed = crosses.concat(target);
  endLabels(
      chart, room, curves.map((c) => endOf(chart, c)).filter(Boolean), toggleChosen,
      (box) => !fixed.some((other) => overlap(box, other)) && isFree(chart, curves, box));
}

// As high as the first screen has room for.
function chartHeight(figure) {
  const room = window.innerHeight - figure.getBoundingClientRect().top - window.scrollY - 60;
  return Math.round(Math.max(320, Math.min(540, figure.clientWidth * 0.48, room)));
}

function showCurves() {
  const curves = shownCurves();
  const zoom = state.zoom;
  const x = (state.logX ? d3.scale.log() : d3.scale.linear()).domain(zoom ? zoom.x : costDomain(curves));
  const y = d3.scale.log().domain(zoom ? zoom.y : riskDomain(curves));
  const figure = byId("curves-figure");
  const {label} = named(MEASURES, state.measure);
  const measure = capitalised(label);
  const cost = named(COSTS, state.cost).label;
  const room = labelRoom(figure, namesAtRight(x, y, curves));
  chart = plot(figure, {
    x,
    y,
    yAxis: logAxis,
    xTitle: capitalised(cost),
    yTitle: measure,
    right: room,
    xAxis: state.logX            ? logAxis :
        state.cost === "seconds" ? secondsAxis :
                                   linearAxis,
    height: chartHeight(figure),
    label: `${measure} against ${cost} of ${curves.map((c) => c.name).join(", ")}`,
  });
  curves.forEach((curve) => drawCurve(chart, curve));
  drawNames(chart, room, curves, drawTarget(chart, curves));
  addBrush(chart, curves);
  byId("zoom-reset").disabled = !zoom;
  light();
  showTip(chart, curves);
  showCurvesNote();
}

function showCurvesNote() {
  const {label, help} = named(MEASURES, state.measure);
  const shown = shownExperiments();
  const several = shown.some((e) => e.seeds > 1);
  const bands = several ?
      "Lines: medians over seeds. Point at a line to see its band, 10% to 90% of the runs; click to keep it. " :
      "";
  const lost = lines().some(({method}) => method.diverged.length > 0) ? "\u00d7 at the top: a run diverged here. " : "";
  const [unsure] = named(MEASURES, state.measure).to_target ?
      lines().filter((line) => points(line.method, state.measure, state.cost).some((p) => p.median === 0)) :
      [];
  const floor = unsure ? `A line ends where it is ${unsure.of.floor_text}. ` : "";
  // A measure that not every experiment has is offered where one has it.
  write("curves-note", `${capitalised(label)}: ${help.split(";")[0]}. ${bands}${lost}${floor}` +
      "Click a method above to hide or show it.");
  write("curves-more", "Drag to zoom, or click the chart and press +, \u2212, 0 or the arrow keys. " +
      (several ? "Costs on the horizontal axis are medians over the seeds at the same iteration. " : "") +
      `A method has at most ${data.curve_points} points here; curves.csv has all ${
                                         amount(d3.sum(shown, (e) => e.points))} recorded.`);
}

function showLegend() {
  const remark = ({method}) => {
    const lost = method.diverged.length;
    if (lost > 0) return `\u00d7 ${lost} diverged`;
    return points(method, state.measure, state.cost).length === 0 ? "not recorded" : "";
  };
  const entries = () => lines().map(
      (line) => (isTogether() ? {...line, name: line.method.name, group: line.of.name} : line));
  legend(entries, {hidden: state.hidden, draw: showCurves, remark, point: pointAt});
}

// The measures and costs that something is known of.
function showChoices() {
  const measures = offered(MEASURES, hasMeasure), costs = offered(COSTS, hasCost);
  if (!measures.some(({key}) => key === state.measure)) state.measure = measures[0].key;
  if (!costs.some(({key}) => key === state.cost)) state.cost = costs[0].key;
  byId("measure").replaceChildren(
      ...measures.map(({key, label}) => element("option", {value: key}, capitalised(label))));
  byId("measure").value = state.measure;
  choice("cost", costs.map(({key}) => [key, key]), state.cost, (key) => changeCurves("cost", key));
}

function changeCurves(entry, value) {
  Object.assign(state, {zoom: null, [entry]: value});
  showLegend();
  showCurves();
}

// --------------------------------------------------------------------------------------------------- lines by choice

// The line that stands out shows its band.
const {light, pointAt, toggleChosen} = spotlight("curves-figure", state);

// ---------------------------------------------------------------------------------------------- zoom and tooltips

function addBrush(on, curves) {
  const brush = d3.svg.brush().x(on.x).y(on.y).on("brushend", () => {
    if (brush.empty()) {
      toggleChosen(state.pointed);
      return;
    }
    const [[x0, y0], [x1, y1]] = brush.extent();
    if (Math.abs(on.x(x1) - on.x(x0)) < 5 || Math.abs(on.y(y1) - on.y(y0)) < 5) {
      showCurves();
      return;
    }
    zoomTo({x: [x0, x1], y: [y0, y1]});
  });
  const layer = on.marks.append("g").attr("class", "brush").call(brush);
  // A finger scrolls the page; the buttons zoom.
  layer.on("touchstart.brush", null);
  layer
      .on("mousemove.tip",
          () => {
            state.pointer = {clientX: d3.event.clientX, clientY: d3.event.clientY};
            showTip(on, curves);
          })
      .on("mouseleave.tip",
          () => {
            state.pointer = null;
            hideTip();
            pointAt(null);
          })
      .on("dblclick.zoom", () => zoomTo(null));
}

function zoomTo(zoom) {
  state.zoom = zoom;
  showCurves();
}

// Zooms by a factor about the centre, and shifts by shares of the plot.
function zoomBy(factor, right, up) {
  const {inner, x, y} = chart;
  const part = (scale, length, shift) => {
    const centre = length * (0.5 + shift);
    return [centre - (length * factor) / 2, centre + (length * factor) / 2].map((at) => scale.invert(at));
  };
  zoomTo({x: part(x, inner.width, right), y: part(y, inner.height, -up).reverse()});
}

const ZOOM_KEYS = {
  "+": [0.7, 0, 0],
  "=": [0.7, 0, 0],
  "-": [1 / 0.7, 0, 0],
  ArrowLeft: [1, -0.15, 0],
  ArrowRight: [1, 0.15, 0],
  ArrowUp: [1, 0, 0.15],
  ArrowDown: [1, 0, -0.15],
};

function zoomByKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "0" || event.key === "Escape") zoomTo(null);
  else if (event.key in ZOOM_KEYS) zoomBy(...ZOOM_KEYS[event.key]);
  else return;
  event.preventDefault();
}

// The point of a curve that is nearest to a cost.
function nearest(curve, x) {
  const n = d3.bisector((p) => p.x).left(curve.points, x);
  return [curve.points[n - 1], curve.points[n]].filter(Boolean).sort(
      (a, b) => Math.abs(a.x - x) - Math.abs(b.x - x))[0];
}

// The values of all lines where the pointer is, on whatever axes there are now; the line next to it stands out.
function showTip(on, curves) {
  if (!state.pointer || curves.length === 0) {
    hideTip();
    return;
  }
  const near = 24;  // pixels
  const box = on.marks.select(".background").node().getBoundingClientRect();
  const scale = box.width / on.inner.width;
  const left = (state.pointer.clientX - box.left) / scale, top = (state.pointer.clientY - box.top) / scale;
  const x = on.x.invert(left);
  const y = placed(on.y, on.inner.height);
  const rows = curves.map((curve) => ({curve, median: nearest(curve, x).median})).sort((a, b) => a.median - b.median);
  const away = ({median}) => Math.abs(y(median) - top);
  const closest = rows.reduce((a, b) => (away(b) < away(a) ? b : a));
  pointAt(away(closest) <= near ? closest.curve.key : null);
  const format = state.cost === "seconds" ? significant : amount;
  tipAcross(
      on, left, `${format(x)} ${state.cost}`,
      rows.slice(0, 12).map(
          ({curve, median}) => [curve.look, curve.name, median === Infinity ? "diverged" : significant(median)]),
      state.pointer);
}

// ---------------------------------------------------------------------------------------------------- play the run

const stepMethod = () => experiment().methods[state.method];
const agentSteps = () => {
  const method = stepMethod();
  return method && method.steps ? method.steps.agents : null;
};

// What agents can be coloured by.
const COLOURED = [["steps", "step size"], ["distances", "distance from consensus"]];
const isConstant = (values) => d3.max(values) <= 1.001 * d3.min(values);
const coloured = (recorded) =>
    (recorded ? COLOURED.filter(([key]) => positive((recorded[key] || []).flat()).length > 0) : []);

// Of all times, so that colours can be compared; the smallest hundredth counts as one, lest it squeeze the others.
function colourScale(values) {
  const known = positive(values.flat()).sort(d3.ascending);
  const [low, high] = known.length > 0 ? widened([d3.quantile(known, 0.01), known[known.length - 1]]) : [0.5, 2];
  const stops = VIRIDIS.map((_, n) => low * Math.pow(high / low, n / (VIRIDIS.length - 1)));
  return d3.scale.log().domain(stops).range(VIRIDIS).interpolate(d3.interpolateRgb).clamp(true);
}

const cannotDraw = (network) => !network ? "The network was not recorded." :
    !network.edges ? `${network.agents} agents and ${network.links} links are too many to draw; ` +
            `up to ${data.drawn_agents} agents are shown.` :
                     "";

const NUMBERED = 40;  // agents that are large enough for their numbers

function drawNetwork() {
  const figure = byId("network-figure");
  const network = experiment().network;
  figure.replaceChildren();
  if (cannotDraw(network)) return;
  const size = Math.max(280, Math.min(figure.clientWidth || 420, 560)), pad = 26, bar = 60;
  const at = network.places;
  const [x0, x1] = d3.extent(at, (p) => p[0]), [y0, y1] = d3.extent(at, (p) => p[1]);
  const scale = (size - 2 * pad) / Math.max(x1 - x0, y1 - y0, 1e-9);
  const height = Math.max(120, (y1 - y0) * scale + 2 * pad);
  const x = (k) => size / 2 + (at[k][0] - (x0 + x1) / 2) * scale;
  const y = (k) => height / 2 + (at[k][1] - (y0 + y1) / 2) * scale;
  const svg = d3.select(figure).append("svg").attr({
    viewBox: `0 0 ${size} ${height + bar}`,
    width: size,
    height: height + bar,
    role: "img",
    "aria-label": `Network of ${network.agents} agents and ${network.links} links`
  });
  svg.append("rect").attr({class: "ground", width: size, height: height + bar});
  const crowd = Math.max(0.3, Math.min(1.4, 60 / Math.sqrt(network.edges.length + 1)));
  svg.append("g").selectAll("line").data(network.edges).enter().append("line").attr({
    class: "edge",
    "stroke-width": crowd,
    x1: (e) => x(e[0]),
    y1: (e) => y(e[0]),
    x2: (e) => x(e[1]),
    y2: (e) => y(e[1])
  });
  const radius = Math.max(3, Math.min(12, 115 / Math.sqrt(network.agents + 40)));
  const agents = svg.append("g").selectAll("g").data(at).enter().append("g");
  agents.append("circle")
      .attr({class: "node", r: radius, cx: (_, k) => x(k), cy: (_, k) => y(k)})
      .on("mousemove", (_, k) => pointAtAgent(k))
      .on("mouseleave", () => pointAtAgent(null));
  if (network.agents <= NUMBERED) {
    agents.append("text").attr({class: "number", x: (_, k) => x(k), y: (_, k) => y(k) + 3.5}).text((_, k) => k);
  }
  svg.append("g").attr("class", "scale").attr("transform", `translate(${pad},${height + 8})`);
}

function pointAtAgent(k) {
  d3.selectAll(".node").classed("chosen", (_, n) => n === k);
  d3.selectAll(".agent").classed("chosen", (_, n) => n === k);
  if (k === null) {
    hideTip();
    return;
  }
  const recorded = agentSteps();
  tip(d3.event, element("strong", {}, `Agent ${k}`),
      ...coloured(recorded).map(
          ([key, title]) => element(
              "div", {}, element("span", {}, title), element("b", {}, significant(recorded[key][state.time][k])))));
}

function drawColourBar(colour, title) {
  const group = d3.select("#network-figure .scale");
  if (!colour || group.empty()) return;
  const width = 220, parts = 60;
  const domain = colour.domain(), low = domain[0], high = domain[domain.length - 1];
  group.selectAll("rect")
      .data(d3.range(parts))
      .enter()
      .append("rect")
      .attr({x: (n) => (n * width) / parts, width: width / parts + 0.5, height: 9})
      .attr("fill", (n) => colour(low * Math.pow(high / low, n / (parts - 1))));
  group.append("text").attr({y: 24}).text(significant(low));
  group.append("text").attr({class: "title", x: width / 2, y: 40, "text-anchor": "middle"}).text(title);
  group.append("text").attr({x: width, y: 24, "text-anchor": "end"}).text(significant(high));
}

function stepDomain(steps) {
  const middle = positive(steps.median);
  if (middle.length === 0) return [1e-3, 1];
  // Where some agents stand still, the smallest steps of the others count.
  const recorded = steps.agents ? positive(steps.agents.steps.flat()).sort(d3.ascending) : [];
  const small = positive(steps.min).concat(recorded.length > 0 ? [d3.quantile(recorded, 0.01)] : []);
  const low = Math.max(d3.min(small.concat(middle)), d3.min(middle) / 1e4);
  const high = Math.min(d3.max(positive(steps.max).concat(middle)), d3.max(middle) * 1e4);
  return high / low < 1.5 ? [low / 2, high * 2] : [low / 1.1, high * 1.1];
}

// As among the curves.
const lookOf = (method) => lines()[method].look;

let fan = null;
let run = null;

// The charts of the run that is played, one below the other: iterations stand at the same places in both.
function drawCharts(colour) {
  const steps = stepMethod() && stepMethod().steps;
  for (const id of ["run-figure", "steps-figure"]) byId(id).replaceChildren();
  run = fan = null;
  if (!steps) return;
  const charts = [runChart(steps), fanChart(steps)];
  const left = d3.max(charts, leftMargin);
  const x = () => d3.scale.linear().domain([0, steps.iterations[steps.iterations.length - 1] || 1]);
  [run, fan] = charts.map(
      ({id, ...chart}) =>
          plot(byId(id), {...chart, left, x: x(), xAxis: linearAxis, yAxis: logAxis, xTitle: "Iteration"}));
  drawRun(steps);
  drawFan(steps, colour);
  for (const on of [run, fan]) addCursor(on);
}

// The risk of the run, 0 where rounding alone can make it, as far as it is drawn.
function runRows(steps) {
  const floor = experiment().risk_floor;
  const all = steps.iterations.map((i, n) => ({i, risk: steps.risk[n]}))
                  .filter((r) => isKnown(r.risk))
                  .map((r) => ({...r, risk: r.risk < floor ? 0 : r.risk}));
  return all.filter(passed(all, (r) => r.risk));
}

function runChart(steps) {
  const known = positive(runRows(steps).map((r) => r.risk));
  return {
    id: "run-figure",
    y: d3.scale.log().domain(known.length > 0 ? widened(d3.extent(known)) : [1e-6, 1]),
    yAxis: logAxis,
    yTitle: "Excess risk",
    height: 230,
    label: `Excess risk of ${stepMethod().name} over iterations, seed ${steps.seed}`,
  };
}

function drawRun(steps) {
  const rows = runRows(steps);
  const y = placed(run.y, run.inner.height);
  run.marks.append("path")
      .attr("class", `line ${strokeOf(lookOf(state.method))}${dotted(rows)}`)
      .attr("d", d3.svg.line().x((r) => run.x(r.i)).y((r) => y(r.risk))(rows) || "M0,0");
}

// A line that showTime moves.
const addCursor = (on) => on.marks.append("line").attr({class: "now", y1: 0, y2: on.inner.height});

const fanChart = (steps) => ({
  id: "steps-figure",
  y: d3.scale.log().domain(stepDomain(steps)),
  yAxis: logAxis,
  yTitle: "Step size",
  height: 270,
  label: `Step sizes of ${stepMethod().name} over iterations`,
});

function drawFan(steps, colour) {
  const y = placed(fan.y, fan.inner.height);
  const rows = steps.iterations.map((i, n) => ({i, min: steps.min[n], median: steps.median[n], max: steps.max[n]}))
                   .filter((r) => isKnown(r.median));
  const x = (r) => fan.x(r.i);
  fan.marks.append("path")
      .attr("class", `band ${fillOf(lookOf(state.method))}`)
      .attr(
          "d",
          d3.svg.area()
                  .x(x)
                  .y0((r) => y(r.min))
                  .y1((r) => y(r.max))
                  .defined((r) => r.min !== null && r.max !== null)(rows) ||
              "M0,0");
  const recorded = steps.agents;
  if (recorded) {
    const line = d3.svg.line().x((p) => fan.x(p[0])).y((p) => y(p[1])).defined((p) => isKnown(p[1]));
    const last = recorded.steps[recorded.steps.length - 1];
    fan.marks.selectAll(".agent")
        .data(last)
        .enter()
        .append("path")
        .attr("class", "agent")
        .attr("d", (_, k) => line(recorded.steps.map((s, n) => [recorded.iterations[n], s[k]])) || "M0,0")
        .attr("stroke-opacity", Math.max(0.12, Math.min(0.7, 20 / last.length)))
        .attr("stroke", (step) => (colour && isKnown(step) && step > 0 ? colour(step) : "gray"));
  }
  fan.marks.append("path")
      .attr("class", `line ${strokeOf(lookOf(state.method))}${dotted(rows)}`)
      .attr("d", d3.svg.line().x(x).y((r) => y(r.median))(rows) || "M0,0");
}

function showTime() {
  const recorded = agentSteps();
  const shown = coloured(recorded).length > 0;
  byId("player").hidden = !shown;
  for (const on of [fan, run]) {
    if (on) on.marks.select(".now").style("display", shown ? null : "none");
  }
  if (!shown) {
    d3.selectAll(".node, .number").style("fill", null);
    return;
  }
  const iteration = recorded.iterations[state.time];
  const values = recorded[state.colour];
  const colour = colourScale(values);
  byId("time").value = String(state.time);
  byId("time").setAttribute("aria-valuetext", `iteration ${iteration}`);
  byId("time-value").textContent = String(iteration);
  const fills = values[state.time].map((value) => (isKnown(value) && value > 0 ? colour(value) : null));
  d3.selectAll(".node").style("fill", (_, k) => fills[k]);
  d3.selectAll(".number").style("fill", (_, k) => fills[k] && (d3.lab(fills[k]).l < 50 ? "white" : "black"));
  for (const on of [fan, run]) {
    if (on) on.marks.select(".now").attr({x1: on.x(iteration), x2: on.x(iteration)});
  }
}

// From one recorded time to the next; at the end again from the beginning, if asked to.
function play() {
  const last = agentSteps().iterations.length - 1;
  if (state.time >= last) state.time = 0;
  showTime();
  state.playing = setInterval(() => {
    state.time += 1;
    showTime();
    if (state.time >= last) stop();
  }, FRAME);
  byId("play").textContent = "\u275a\u275a Pause";
}

function stop() {
  clearInterval(state.playing);
  state.playing = null;
  byId("play").textContent = "\u25b6 Play";
}

function showSteps() {
  byId("steps").hidden = isTogether();
  if (isTogether()) return;
  const method = stepMethod();
  const recorded = agentSteps();
  const colours = coloured(recorded);
  if (colours.length > 0) {
    state.time = Math.max(0, Math.min(state.time, recorded.iterations.length - 1));
    byId("time").max = String(recorded.iterations.length - 1);
    if (!colours.some(([key]) => key === state.colour)) {
      // Steps that never change have little to show.
      const dull = colours.length > 1 && isConstant(positive(recorded.steps.flat()));
      state.colour = colours[dull ? 1 : 0][0];
    }
  }
  choice("colour", colours, state.colour, (key) => {
    state.colour = key;
    showSteps();
  });
  drawNetwork();
  if (colours.length > 0) {
    drawColourBar(colourScale(recorded[state.colour]), colours.find(([key]) => key === state.colour)[1]);
  }
  drawCharts(recorded ? colourScale(recorded.steps) : null);
  showTime();
  showStepNotes(method, recorded, colours.length > 0);
}

const COLOUR_NOTES = {
  steps: "Colour: each agent\u2019s step size, on a logarithmic scale; grey: 0.",
  distances:
      "Colour: how far each agent\u2019s model is from the mean of all models, on a logarithmic scale; grey: not at all.",
};

function showStepNotes(method, recorded, isColoured) {
  const network = experiment().network;
  const hint = element(
      "span", {}, "Agents have no colours: record every agent\u2019s step with ",
      element("code", {}, "[record] steps = \"agents\""), ".");
  const trouble = cannotDraw(network);
  byId("network-note")
      .replaceChildren(
          trouble ||
              `${plural(network.agents, "agent")}, numbered from 0; ${plural(network.links, "link")}, seed ${
                  network.seed}. `,
          ...(isColoured ? [trouble ? "" : COLOUR_NOTES[state.colour]] : [" ", hint]));
  byId("steps-note").textContent = !method || !method.steps ?
      "No run has recorded steps." :
      `Both for seed ${method.steps.seed}. Step sizes: the range over all agents (shaded) and their median (line).` +
          (recorded ? ` Thin lines: single agents, at ${recorded.iterations.length} times.` : "");
}

// The best one first.
function showStepMethods() {
  const {methods, ranking} = experiment();
  state.method = Math.max(0, methods.findIndex((m) => ranking.length > 0 && m.name === ranking[0].method));
  byId("step-method")
      .replaceChildren(...experiment().methods.map((m, n) => element("option", {value: String(n)}, m.name)));
  byId("step-method").value = String(state.method);
}

// ---------------------------------------------------------------------------------------------------------- tables

// Runs of a method that ended in the same way are one row.
function alike(runs) {
  const rows = new Map();
  for (const {method, status, message, seed, iteration} of runs) {
    const key = JSON.stringify([method, status, message]);
    if (!rows.has(key)) rows.set(key, {method, status, message, seeds: [], iterations: []});
    rows.get(key).seeds.push(seed);
    rows.get(key).iterations.push(iteration);
  }
  return [...rows.values()];
}

function showTables() {
  const {tunings, troubled, settings, toml, provenance} = experiment();
  byId("tunings").hidden = tunings.length === 0;
  table(
      byId("tunings-table"),
      [
        ["Method", (t) => t.method, true],
        ["Constant found", (t) => significant(t.value)],
        ["Goal", (t) => t.goal, true],
        ["Trial runs", (t) => amount(t.trials)],
        ["Iterations", (t) => amount(t.iterations)],
        ["Vectors", (t) => amount(t.vectors)],
        ["Evaluations", (t) => amount(t.evaluations)],
        ["Seconds", (t) => significant(t.seconds)],
        ["Share used", (t) => significant(t.factor)],
      ],
      tunings);
  byId("troubled").hidden = troubled.length === 0;
  table(
      byId("troubled-table"),
      [
        // What to do about it stands below the name, where a phone shows it too.
        ["Method", (t) => element("span", {}, t.method, element("small", {class: "message"}, t.message)), true],
        ["Status", (t) => t.status, true],
        ["Seeds", (t) => t.seeds.join(", "), true],
        ["At iteration", (t) => d3.extent(t.iterations).filter((i, n, all) => n === 0 || i !== all[0]).join(" to ")],
      ],
      alike(troubled));
  showSettings(settings, toml.map((line) => line + "\n").join(""));
  showProvenance(provenance);
  for (const id of ["tunings", "troubled", "settings", "provenance"]) {
    if (isTogether()) byId(id).hidden = true;
  }
}

const TABLES = {
  ranking() {
    const shares = ["10%", "median", "90%"];
    const head = [
      "experiment", "place", "method", "runs", "reached", "diverged",
      ...SPREADS.flatMap(([key]) => shares.map((s) => `${key} ${s}`)), "averaged better", "take"
    ];
    return [
      head,
      ...shownExperiments().flatMap(
          (e) => e.ranking.map(
              (s, n) =>
                  [e.name, n + 1, s.method, s.runs, s.reached, s.diverged, ...SPREADS.flatMap(([key]) => s[key]),
                   s.averaged_better, s.recommended]))
    ];
  },
  curves() {
    const shares = ["low", "median", "high"];
    const head = [
      "experiment", "method", ...COSTS.map((c) => c.key), ...MEASURES.flatMap((m) => shares.map((s) => `${m.key} ${s}`))
    ];
    return [
      head,
      ...lines().flatMap(
          ({of, method: m}) => m.curves.x.iterations.map(
              (_, n) =>
                  [of.name, m.name, ...COSTS.map((c) => m.curves.x[c.key][n]),
                   ...MEASURES.flatMap(({key: y}) => shares.map((s) => (m.curves.y[y] ? m.curves.y[y][s][n] : null)))]))
    ];
  },
  steps() {
    const {name, steps} = stepMethod() || {};
    if (!steps) return null;
    if (steps.agents) {
      return [
        ["method", "seed", "iteration", ...steps.agents.steps[0].map((_, k) => `agent ${k}`)],
        ...steps.agents.iterations.map((i, n) => [name, steps.seed, i, ...steps.agents.steps[n]])
      ];
    }
    return [
      ["method", "seed", "iteration", "min", "median", "max"],
      ...steps.iterations.map((i, n) => [name, steps.seed, i, steps.min[n], steps.median[n], steps.max[n]])
    ];
  },
};

// ------------------------------------------------------------------------------------------------------- the start

function showAll() {
  showExperiments();
  showHeader();
  showChoices();
  showRanking();
  showLegend();
  showCurves();
  showStepMethods();
  showSteps();
  showTables();
}

function listen() {
  byId("measure").addEventListener("change", (e) => changeCurves("measure", e.target.value));
  byId("log-x").addEventListener("change", (e) => changeCurves("logX", e.target.checked));
  byId("zoom-in").addEventListener("click", () => zoomBy(0.7, 0, 0));
  byId("zoom-out").addEventListener("click", () => zoomBy(1 / 0.7, 0, 0));
  byId("zoom-reset").addEventListener("click", () => zoomTo(null));
  byId("curves-figure").tabIndex = 0;
  byId("curves-figure").addEventListener("keydown", zoomByKey);
  byId("step-method").addEventListener("change", (e) => {
    stop();
    Object.assign(state, {method: Number(e.target.value), colour: null});
    showSteps();
  });
  byId("time").addEventListener("input", (e) => {
    stop();
    state.time = Number(e.target.value);
    showTime();
  });
  byId("play").addEventListener("click", () => (state.playing === null ? play() : stop()));
}

function showFigures() {
  showCurves();
  showSteps();
}

listen();
start({
  title: () => (isTogether() ? "experiments" : experiment().name),
  tables: TABLES,
  lines: {curves: shownCurves},
  draw: showFigures
});
if (data.experiments.length > 0) showAll();
})();
