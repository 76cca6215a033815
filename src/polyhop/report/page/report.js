// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Draws report.html from the data in it, with what common.js gives.
(function() {
"use strict";

const {
  data, byId, isKnown, element, significant, amount, plural, strokeOf, fillOf, keyOf, widened, logAxis, linearAxis,
  secondsAxis, plot, tip, hideTip, tipAcross, table, showSettings, showProvenance, choice, legend, start
} = page;

const {measures: MEASURES, costs: COSTS} = data;
// Viridis: even steps of lightness, readable by colour-blind readers.
const VIRIDIS =
    ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

const state = {
  experiment: 0,
  measure: MEASURES[0].key,
  cost: COSTS[0].key,
  logX: false,
  hidden: new Set(),
  zoom: null,
  method: 0,
  time: 0,
  sort: {key: "place", down: false},
};

const experiment = () => data.experiments[state.experiment];
const named = (list, key) => list.find((entry) => entry.key === key);
const capitalised = (label) => label[0].toUpperCase() + label.slice(1);
// The target that the curves are compared with, if there is one.
const shownTarget = () =>
    (named(MEASURES, state.measure).to_target && experiment().target > 0 ? experiment().target : null);

// ------------------------------------------------------------------------------------------------------ the header

function settingOf(title, key) {
  const group = experiment().settings.find((g) => g.title === title);
  const row = group && group.rows.find((r) => r[0] === key);
  return row ? row[1] : null;
}

function showHeader() {
  const shown = experiment();
  byId("title").textContent = shown.name;
  const agents = shown.network ? String(shown.network.agents) : settingOf("[graph]", "agents");
  const dimension = settingOf("[problem]", "dimension");
  const facts = [
    agents && plural(Number(agents), "agent"),
    settingOf("[graph]", "topology"),
    settingOf("[problem]", "loss") || settingOf("[problem]", "source"),  // a problem of one's own has no loss
    dimension && dimension !== "0" && "dimension " + dimension,
    plural(shown.methods.length, "method"),
    plural(shown.seeds, "seed"),
  ];
  byId("facts").textContent = facts.filter(Boolean).join(" \u00b7 ");
  byId("headline").textContent = shown.headline;
}

function showExperiments() {
  const nav = byId("experiments");
  nav.hidden = data.experiments.length < 2;
  nav.replaceChildren(...data.experiments.map((e, n) => {
    const button = element("button", {type: "button"}, element("strong", {}, e.name), element("small", {}, e.headline));
    button.setAttribute("aria-current", String(n === state.experiment));
    button.addEventListener("click", () => choose(n));
    return button;
  }));
}

function choose(n) {
  Object.assign(state, {experiment: n, zoom: null, method: 0, time: Infinity, hidden: new Set()});
  showAll();
  byId("experiments").children[n].focus();
}

// ----------------------------------------------------------------------------------------------------- the ranking

const SPREADS = [
  ["iterations", "Iterations", amount], ["vectors", "Vectors", amount], ["evaluations", "Evaluations", amount],
  ["seconds", "Seconds", (x) => (isKnown(x) ? significant(x) : "\u2013")], ["final_risk", "Final risk", significant],
  ["final_risk_averaged", "Averaged", (x) => (isKnown(x) ? significant(x) : "\u2013")]
];

// The same words as the terminal's table.
function remark(s) {
  const words = [];
  if (s.runs > 0) {
    if (s.diverged === s.runs) words.push("diverged");
    else if (s.diverged > 0) words.push(`${s.diverged} of ${s.runs} diverged`);
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
  return experiment().ranking.map((s, n) => ({
                                    place: n + 1,
                                    method: s.method,
                                    remark: remark(s),
                                    take: hasAverage(s) ? s.recommended : "",
                                    standing: s,
                                    index: experiment().methods.findIndex((m) => m.name === s.method),
                                    ...Object.fromEntries(SPREADS.map(([key]) => [key, s.runs > 0 ? s[key][1] : null])),
                                  }));
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

function spreadCell(key, format, standing) {
  const [low, median, high] = standing.runs > 0 ? standing[key] : [null, null, null];
  const cell = element("td", {title: median === null ? "" : String(median)}, format(median));
  cell.dataset.value = String(median);
  if (isKnown(low) && standing.runs > 1)
    cell.append(element("small", {}, `${format(low)} to ${isKnown(high) ? format(high) : "\u221e"}`));
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

function showRanking() {
  const head = element(
      "tr", {}, headerCell("place", "#"), headerCell("method", "Method", true),
      ...SPREADS.map(([key, title]) => headerCell(key, title)), headerCell("take", "Take", true),
      headerCell("remark", "Remark", true));
  const body = sorted(rankingRows())
                   .map(
                       (row) => element(
                           "tr", {}, element("td", {}, String(row.place)),
                           element("td", {class: "text"}, keyOf(row.index), row.method),
                           ...SPREADS.map(([key, , format]) => spreadCell(key, format, row.standing)),
                           takeCell(row.standing), element("td", {class: "remark"}, row.remark)));
  byId("ranking-table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  byId("ranking-note").textContent =
      `Medians over ${plural(experiment().seeds, "seed")}, 10% and 90% quantiles below them. ` +
      "Iterations, vectors, evaluations and seconds are " +
      `those to reach an excess risk of ${significant(experiment().target)}; final risks are excess risks at the end, ` +
      "of the last iterates and of their averages; take the one with the lower median, which is as low or lower on so many of the runs. Click a heading to sort.";
  byId("recommendation").textContent = experiment().recommendation;
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
  const curve = (method, index) =>
      ({method, name: method.name, index, points: points(method, state.measure, state.cost)});
  return experiment().methods.map(curve).filter((c) => !state.hidden.has(c.name) && c.points.length > 0);
}

// All values that an axis must hold, positive and finite ones only.
const positive = (values) => values.filter((v) => isKnown(v) && v > 0);

function riskDomain(curves) {
  const medians = positive(curves.flatMap((c) => c.points.map((p) => p.median)));
  if (medians.length === 0) return [1e-6, 1];
  const band = positive(curves.flatMap((c) => c.points.flatMap((p) => [p.low, p.high])));
  const first = d3.max(positive(curves.map((c) => c.points[0].median))) || d3.max(medians);
  // One lucky or diverging seed shall not squeeze all the others.
  const bottom = Math.max(d3.min(band.concat(medians)), d3.min(medians) / 1e4);
  const top = Math.min(d3.max(band.concat(medians)), first * 1e3);
  return widened(d3.extent([bottom, Math.max(top, first)].concat(shownTarget() || [])));
}

function costDomain(curves) {
  const xs = curves.flatMap((c) => c.points.map((p) => p.x))
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

function drawCurve(chart, curve) {
  const y = placed(chart.y, chart.inner.height);
  const x = (p) => chart.x(p.x);
  const group = chart.marks.append("g").attr("class", "curve").attr("data-method", curve.index);
  const area = d3.svg.area().x(x).y0((p) => y(p.low)).y1((p) => y(p.high)).defined((p) => isKnown(p.low));
  const line = d3.svg.line().x(x).y((p) => y(p.median)).defined((p) => isKnown(p.median));
  group.append("path").attr("class", `band ${fillOf(curve.index)}`).attr("d", area(curve.points) || "M0,0");
  group.append("path").attr("class", `line ${strokeOf(curve.index)}`).attr("d", line(curve.points) || "M0,0");
  const cross = "M-4,-4L4,4M-4,4L4,-4";
  group.selectAll(".lost")
      .data(curve.method.diverged.filter((d) => !state.logX || d[state.cost] > 0))
      .enter()
      .append("path")
      .attr("class", `lost ${strokeOf(curve.index)}`)
      .attr("d", cross)
      .attr("transform", (d) => `translate(${chart.x(d[state.cost])},${8 + 10 * (curve.index % 5)})`)
      .append("title")
      .text((d) => `${curve.name}: seed ${d.seed} diverged by iteration ${d.iterations}`);
}

function drawTarget(chart) {
  const target = shownTarget();
  if (target === null) return;
  const y = chart.y(target);
  if (y < 0 || y > chart.inner.height) return;
  const group = chart.root.append("g").attr("class", "target");
  group.append("line").attr({x1: 0, x2: chart.inner.width, y1: y, y2: y});
  group.append("text")
      .attr({x: chart.inner.width - 4, y: y - 5, "text-anchor": "end"})
      .text("target " + significant(target));
}

let chart = null;

function showCurves() {
  const curves = shownCurves();
  const zoom = state.zoom;
  const x = (state.logX ? d3.scale.log() : d3.scale.linear()).domain(zoom ? zoom.x : costDomain(curves));
  const y = d3.scale.log().domain(zoom ? zoom.y : riskDomain(curves));
  const figure = byId("curves-figure");
  const {label, help} = named(MEASURES, state.measure);
  const measure = capitalised(label);
  const cost = named(COSTS, state.cost).label;
  chart = plot(figure, {
    x,
    y,
    yAxis: logAxis,
    xTitle: capitalised(cost),
    yTitle: measure,
    xAxis: state.logX            ? logAxis :
        state.cost === "seconds" ? secondsAxis :
                                   linearAxis,
    height: Math.round(Math.min(540, Math.max(320, figure.clientWidth * 0.48))),
    label: `${measure} against ${cost} of ${curves.map((c) => c.name).join(", ")}`,
  });
  curves.forEach((curve) => drawCurve(chart, curve));
  drawTarget(chart);
  addBrush(chart, curves);
  byId("zoom-reset").disabled = !zoom;
  const unit = experiment().seeds > 1 ? "Line: median over seeds; band: 10% to 90%. " : "";
  const lost =
      experiment().methods.some((m) => m.diverged.length > 0) ? "\u00d7 at the top: where a run diverged. " : "";
  const thinned = `Curves are thinned to at most ${data.curve_points} points a method; curves.csv has all `;
  byId("curves-note").textContent = `${measure}: ${help}. ${unit}${lost}` +
      "Costs are medians over the seeds at the same iteration. " + thinned +
      `${amount(experiment().points)} recorded. ` +
      "Drag to zoom; with the chart in focus: + \u2212 0 and arrows.";
}

function showLegend() {
  const {methods} = experiment();
  const remark = (n) => {
    const lost = methods[n].diverged.length;
    if (lost > 0) return `\u00d7 ${lost} diverged`;
    return points(methods[n], state.measure, state.cost).length === 0 ? "not recorded" : "";
  };
  legend(methods.map((m) => m.name), state.hidden, showCurves, remark);
}

// ---------------------------------------------------------------------------------------------- zoom and tooltips

function addBrush(on, curves) {
  const brush = d3.svg.brush().x(on.x).y(on.y).on("brushend", () => {
    if (brush.empty()) return;
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
  layer.on("mousemove.tip", () => showTip(on, curves))
      .on("mouseleave.tip", hideTip)
      .on("dblclick.zoom", () => zoomTo(null));
}

function zoomTo(zoom) {
  state.zoom = zoom;
  hideTip();
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

function showTip(on, curves) {
  const [left] = d3.mouse(on.marks.node());
  const x = on.x.invert(left);
  const rows = curves
                   .map((curve) => {
                     const n = d3.bisector((p) => p.x).left(curve.points, x);
                     const near = [curve.points[n - 1], curve.points[n]].filter(Boolean).sort(
                         (a, b) => Math.abs(a.x - x) - Math.abs(b.x - x))[0];
                     return {curve, median: near.median};
                   })
                   .sort((a, b) => a.median - b.median)
                   .slice(0, 12);
  const format = state.cost === "seconds" ? significant : amount;
  tipAcross(
      on, left, `${format(x)} ${state.cost}`,
      rows.map(({curve, median}) => [curve.index, curve.name, significant(median)]));
}

// ---------------------------------------------------------------------------------------------- network and steps

const stepMethod = () => experiment().methods[state.method];
const agentSteps = () => {
  const method = stepMethod();
  return method && method.steps ? method.steps.agents : null;
};

function colourScale(recorded) {
  const known = positive(recorded.steps.flat());
  const [low, high] = known.length > 0 ? widened(d3.extent(known)) : [0.5, 2];
  const stops = VIRIDIS.map((_, n) => low * Math.pow(high / low, n / (VIRIDIS.length - 1)));
  return d3.scale.log().domain(stops).range(VIRIDIS).interpolate(d3.interpolateRgb).clamp(true);
}

const cannotDraw = (network) => !network ? "The network was not recorded." :
    !network.edges ? `${network.agents} agents and ${network.links} links are too many to draw; ` +
            `up to ${data.drawn_agents} agents are shown.` :
                     "";

function drawNetwork() {
  const figure = byId("network-figure");
  const network = experiment().network;
  figure.replaceChildren();
  if (cannotDraw(network)) return;
  const size = Math.max(280, Math.min(figure.clientWidth || 420, 560)), pad = 26, bar = 44;
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
  svg.append("g")
      .selectAll("circle")
      .data(at)
      .enter()
      .append("circle")
      .attr({class: "node", r: radius, cx: (_, k) => x(k), cy: (_, k) => y(k)})
      .on("mousemove", (_, k) => pointAtAgent(k))
      .on("mouseleave", () => pointAtAgent(null));
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
  const step = recorded ? recorded.steps[state.time][k] : null;
  tip(d3.event, element("strong", {}, `Agent ${k}`),
      ...(recorded ? [element("div", {}, "step", element("b", {}, significant(step)))] : []));
}

function drawColourBar(colour) {
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
  group.append("text").attr({x: width / 2, y: 24, "text-anchor": "middle"}).text("step size");
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
  return widened([low / 1.1, high * 1.1]);
}

let fan = null;

function drawFan(colour) {
  const steps = stepMethod() && stepMethod().steps;
  const figure = byId("steps-figure");
  figure.replaceChildren();
  fan = null;
  if (!steps) return;
  fan = plot(figure, {
    x: d3.scale.linear().domain([0, steps.iterations[steps.iterations.length - 1] || 1]),
    y: d3.scale.log().domain(stepDomain(steps)),
    xAxis: linearAxis,
    yAxis: logAxis,
    xTitle: "Iterations",
    yTitle: "Step size",
    height: 380,
    label: `Step sizes of ${stepMethod().name} over iterations`,
  });
  const y = placed(fan.y, fan.inner.height);
  const rows = steps.iterations.map((i, n) => ({i, min: steps.min[n], median: steps.median[n], max: steps.max[n]}))
                   .filter((r) => isKnown(r.median));
  const x = (r) => fan.x(r.i);
  fan.marks.append("path")
      .attr("class", `band ${fillOf(state.method)}`)
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
        .attr("stroke", (step) => (isKnown(step) && step > 0 ? colour(step) : "gray"));
  }
  fan.marks.append("path")
      .attr("class", `line ${strokeOf(state.method)}`)
      .attr("d", d3.svg.line().x(x).y((r) => y(r.median))(rows) || "M0,0");
  fan.marks.append("line").attr({class: "now", y1: 0, y2: fan.inner.height});
}

function showTime() {
  const recorded = agentSteps();
  byId("time-label").hidden = !recorded;
  if (fan) fan.marks.select(".now").style("display", recorded ? null : "none");
  if (!recorded) {
    d3.selectAll(".node").style("fill", null);
    return;
  }
  const iteration = recorded.iterations[state.time];
  const colour = colourScale(recorded);
  byId("time").value = String(state.time);
  byId("time").setAttribute("aria-valuetext", `iteration ${iteration}`);
  byId("time-value").textContent = String(iteration);
  d3.selectAll(".node").style("fill", (_, k) => {
    const step = recorded.steps[state.time][k];
    return isKnown(step) && step > 0 ? colour(step) : null;
  });
  if (fan) fan.marks.select(".now").attr({x1: fan.x(iteration), x2: fan.x(iteration)});
}

function showSteps() {
  const method = stepMethod();
  const recorded = agentSteps();
  if (recorded) {
    state.time = Math.max(0, Math.min(state.time, recorded.iterations.length - 1));
    byId("time").max = String(recorded.iterations.length - 1);
  }
  const colour = recorded ? colourScale(recorded) : null;
  drawNetwork();
  drawColourBar(colour);
  drawFan(colour);
  showTime();
  const network = experiment().network;
  const seed = method && method.steps ? method.steps.seed : "";
  const hint = element(
      "span", {}, "Agents have no colours: record every agent\u2019s step with ",
      element("code", {}, '[record] steps = "agents"'), ".");
  byId("network-note")
      .replaceChildren(
          cannotDraw(network) ||
              `${plural(network.agents, "agent")}, ${plural(network.links, "link")}, seed ${network.seed}. `,
          ...(recorded ?
                  [cannotDraw(network) ? "" :
                                         "Colour: each agent\u2019s step size, on a logarithmic scale; grey: none. "] :
                  [" ", hint]));
  byId("steps-note").textContent = !method || !method.steps ?
      "No run has recorded steps." :
      `Seed ${seed}. Shaded: smallest to largest step of any agent; line: median over agents.` +
          (recorded ? ` Thin lines: each agent, at ${recorded.iterations.length} times.` : "");
}

function showStepMethods() {
  byId("step-method")
      .replaceChildren(...experiment().methods.map((m, n) => element("option", {value: String(n)}, m.name)));
  byId("step-method").value = String(state.method);
}

// ---------------------------------------------------------------------------------------------------------- tables

function showTables() {
  const {tunings, troubled, settings, provenance} = experiment();
  byId("tunings").hidden = tunings.length === 0;
  table(
      byId("tunings-table"),
      [
        ["Method", (t) => t.method, true],
        ["Constant found", (t) => significant(t.value)],
        ["Share used", (t) => significant(t.factor)],
        ["Trial runs", (t) => amount(t.trials)],
        ["Iterations", (t) => amount(t.iterations)],
        ["Vectors", (t) => amount(t.vectors)],
        ["Evaluations", (t) => amount(t.evaluations)],
        ["Seconds", (t) => significant(t.seconds)],
      ],
      tunings);
  byId("troubled").hidden = troubled.length === 0;
  table(
      byId("troubled-table"),
      [
        ["Method", (t) => t.method, true],
        ["Seed", (t) => t.seed],
        ["Status", (t) => t.status, true],
        ["At iteration", (t) => String(t.iteration)],
        ["Message", (t) => t.message, true],
      ],
      troubled);
  showSettings(settings);
  showProvenance(provenance);
}

const TABLES = {
  ranking() {
    const shares = ["10%", "median", "90%"];
    const head = [
      "place", "method", "runs", "reached", "diverged", ...SPREADS.flatMap(([key]) => shares.map((s) => `${key} ${s}`)),
      "averaged better", "take"
    ];
    return [
      head,
      ...experiment().ranking.map(
          (s, n) =>
              [n + 1, s.method, s.runs, s.reached, s.diverged, ...SPREADS.flatMap(([key]) => s[key]), s.averaged_better,
               s.recommended])
    ];
  },
  curves() {
    const shares = ["low", "median", "high"];
    const head = ["method", ...COSTS.map((c) => c.key), ...MEASURES.flatMap((m) => shares.map((s) => `${m.key} ${s}`))];
    return [
      head,
      ...experiment().methods.flatMap(
          (m) => m.curves.x.iterations.map(
              (_, n) =>
                  [m.name, ...COSTS.map((c) => m.curves.x[c.key][n]),
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
  showRanking();
  showLegend();
  showCurves();
  showStepMethods();
  showSteps();
  showTables();
}

function listen() {
  const changeCurves = (entry, value) => {
    Object.assign(state, {zoom: null, [entry]: value});
    showLegend();
    showCurves();
  };
  byId("measure").append(...MEASURES.map(({key, label}) => element("option", {value: key}, capitalised(label))));
  byId("measure").addEventListener("change", (e) => changeCurves("measure", e.target.value));
  choice("cost", COSTS.map(({key}) => [key, key]), state.cost, (key) => changeCurves("cost", key));
  byId("log-x").addEventListener("change", (e) => changeCurves("logX", e.target.checked));
  byId("zoom-in").addEventListener("click", () => zoomBy(0.7, 0, 0));
  byId("zoom-out").addEventListener("click", () => zoomBy(1 / 0.7, 0, 0));
  byId("zoom-reset").addEventListener("click", () => zoomTo(null));
  byId("curves-figure").tabIndex = 0;
  byId("curves-figure").addEventListener("keydown", zoomByKey);
  byId("step-method").addEventListener("change", (e) => {
    state.method = Number(e.target.value);
    showSteps();
  });
  byId("time").addEventListener("input", (e) => {
    state.time = Number(e.target.value);
    showTime();
  });
}

function showFigures() {
  showCurves();
  showSteps();
}

state.time = Infinity;
listen();
start({title: () => experiment().name, tables: TABLES, lines: {curves: shownCurves}, draw: showFigures});
if (data.experiments.length > 0) showAll();
})();
