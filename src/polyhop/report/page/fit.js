// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Draws fit.html from the data in it, with what common.js gives.
(function() {
"use strict";

const {
  data: fit, byId, isKnown, element, write, significant, plural, strokeOf, keyOf, dotted, widened, logAxis,
  linearAxis, secondsAxis, plot, tipAcross, follow, table, showPairs, showSettings, showProvenance, choice, start
} = page;

const FEW = 25;  // features shown at first
const LINES = [
  ["gradient", "relative gradient"],
  ["disagreement", "disagreement, relative to the model"],
];
const SAMPLES = [["held_out", "held out"], ["fitted", "fitted"]].filter(([key]) => fit[key]);
// The samples that say most of the model.
const judged = () => fit.held_out || fit.fitted;
const state = {
  samples: fit.held_out ? "held_out" : "fitted",
  all: false
};

// Metrics with four digits: 0.9912 and 0.9947 are not alike. Large ones have no digits that nobody knows: 4.763e11.
const precise = (x) => {
  if (!isKnown(x)) return "not defined";
  return Math.abs(x) < 1e6 ? String(Number(x.toPrecision(4))) : x.toExponential(3).replace("e+", "e");
};

const titled = (metric) => metric.replace(/^R2$/, "R\u00b2");

// How good the model is, in a sentence: on samples held out where there are any.
function qualityText() {
  const [name, value] = judged().metrics[0];
  const shown = `${name[0].toUpperCase()}${name.slice(1)} ${precise(value)}`;
  if (!fit.held_out) {
    return `${shown} on the ${plural(fit.fitted.samples, "sample")} that the model was fitted to; none were held out.`;
  }
  const before = precise(fit.fitted.metrics[0][1]);
  const heldOut = plural(fit.held_out.samples, "sample");
  return `${shown} on ${heldOut} held out; ${before} on the ${fit.fitted.samples} used for the fit.`;
}

// A fit that did not end well says so first.
function showHeader() {
  byId("title").textContent = fit.title;
  byId("facts").textContent = fit.facts;
  write("headline", fit.fitted && fit.good ? qualityText() : fit.ending);
  byId("headline").classList.toggle("bad", !fit.good);
  write("ending", fit.ending);
}

// ---------------------------------------------------------------------------------------------------------- quality

function showMetrics() {
  byId("quality").hidden = !fit.fitted;
  if (!fit.fitted) return;
  // Of two metrics that are the same number, such as log-loss and mean loss, the first is enough.
  const told = judged().metrics.filter(
      ([, value], n, all) => isKnown(value) && all.findIndex((other) => other[1] === value) === n);
  byId("tiles").replaceChildren(...told.map(([name, value], row) => {
    const other = fit.held_out ? `on fitted samples: ${precise(fit.fitted.metrics.find((m) => m[0] === name)[1])}` : "";
    return element(
        "div", {class: row === 0 ? "tile first" : "tile"}, element("strong", {}, precise(value)),
        element("span", {}, titled(name)), element("small", {}, other));
  }));
  const rows = fit.fitted.metrics.map(
      (m, row) => element(
          "tr", {}, element("td", {class: "text"}, titled(m[0]), element("small", {}, m[2])),
          ...SAMPLES.map(([key]) => element("td", {class: "big"}, precise(fit[key].metrics[row][1])))));
  const heads = SAMPLES.map(([key, title]) => element("th", {scope: "col"}, `${title} (${fit[key].samples})`));
  byId("metrics-table")
      .replaceChildren(
          element("thead", {}, element("tr", {}, element("th", {scope: "col", class: "text"}, "Metric"), ...heads)),
          element("tbody", {}, ...rows));
  write("quality-note", `The fit minimised the mean loss${fit.penalised ? " plus the penalty" : ""}: ${
                            precise(fit.cost)}.` +
      (fit.held_out ? "" : " These numbers describe the samples that the model was fitted to; it may predict new" +
               " ones less well. To see how well, hold some out with --held-out, or use polyhop evaluate."));
}

// A cell's share of its row, as a colour: what is right green, what is not orange.
function shade(cell, share, right) {
  cell.style.background = share > 0 ?
      `color-mix(in srgb, var(${right ? "--c2" : "--c1"}) ${Math.round(8 + 42 * share)}%, transparent)` :
      "";
}

function showClasses() {
  const {classes, confusion} = fit.fitted ? fit[state.samples] : {classes: [], confusion: []};
  byId("classes").hidden = classes.length === 0;
  byId("samples-shown").hidden = SAMPLES.length < 2;
  table(
      byId("class-table"),
      [
        ["Class", (c) => c[0], true],
        ["Samples", (c) => String(c[1])],
        ["Precision", (c) => precise(c[2])],
        ["Recall", (c) => precise(c[3])],
      ],
      classes);
  byId("confusion").hidden = confusion.length === 0;
  const names = classes.map((c) => c[0]);
  const rows = confusion.map((counts, t) => {
    const all = Math.max(1, d3.sum(counts));
    const cells = counts.map((n, p) => {
      const cell = element("td", {class: n > 0 ? "" : "zero"}, String(n));
      shade(cell, n / all, t === p);
      return cell;
    });
    return element("tr", {}, element("td", {class: "text"}, names[t]), ...cells);
  });
  byId("confusion-table").className = "shaded";
  byId("confusion-table")
      .replaceChildren(
          element(
              "thead", {},
              element(
                  "tr", {}, element("th", {class: "text"}, ""),
                  ...names.map((name) => element("th", {scope: "col"}, name)))),
          element("tbody", {}, ...rows));
}

function chooseSamples(key) {
  state.samples = key;
  showClasses();
}

// --------------------------------------------------------------------------------------------------------- progress

// The points of a line that a logarithmic axis can show.
function pointsOf(key, positive) {
  const {iterations} = fit.history;
  return (fit.history[key] || [])
      .map((y, n) => ({x: iterations[n], y}))
      .filter((p) => isKnown(p.y) && (!positive || p.y > 0));
}

// Disagreement that is nothing but rounding is not worth a line.
const isRounding = ({key, points}) => key === "disagreement" && !(d3.max(points, (p) => p.y) >= 1e-12);

const shownLines = () => LINES.map(([key, name], index) => ({key, name, look: index, points: pointsOf(key, true)}))
                             .filter((line) => line.points.length > 0 && !isRounding(line));

function drawLines(figure, lines, options) {
  const last = fit.history.iterations[fit.history.iterations.length - 1] || 1;
  const chart = plot(figure, {
    x: d3.scale.linear().domain([0, last]),
    xAxis: linearAxis,
    xTitle: "Iteration",
    height: Math.round(Math.min(420, Math.max(260, figure.clientWidth * 0.36))),
    ...options,
  });
  const path = d3.svg.line().x((p) => chart.x(p.x)).y((p) => chart.y(p.y));
  for (const {look, points} of lines) {
    chart.marks.append("path").attr({class: `line ${strokeOf(look)}${dotted(points)}`, d: path(points)});
  }
  follow(chart, () => showTip(chart, lines));
  return chart;
}

function showTip(chart, lines) {
  const at = chart.x.invert(d3.mouse(chart.marks.node())[0]);
  const near = (points) => points.reduce((a, b) => (Math.abs(b.x - at) < Math.abs(a.x - at) ? b : a));
  const found = lines.map((line) => ({line, point: near(line.points)}));
  tipAcross(
      chart, chart.x(found[0].point.x), `iteration ${found[0].point.x}`,
      found.map(({line, point}) => [line.look, line.name, significant(point.y)]));
}

function showProgress() {
  const lines = shownLines();
  byId("progress").hidden = fit.history.iterations.length === 0;
  const drawn = "#progress-figure, #legend, #progress [data-save$='.svg'], #progress [data-save$='.png']";
  for (const part of document.querySelectorAll(drawn)) part.hidden = lines.length === 0;
  const differ = fit.history.disagreement && !isRounding({key: "disagreement", points: pointsOf("disagreement", true)});
  byId("progress-note").textContent =
      (fit.history.gradient ?
           "Relative gradient: with features scaled to about 1, in units of the loss's slope at the model without " +
               "features; where it vanishes, the model is the minimum over the samples of all agents. " :
           "") +
      (differ ?
           "Disagreement: the largest distance of an agent's model to its neighbourhood's mean, relative to the model." :
           "All agents have the same model at every step.");
  if (lines.length === 0) return;
  const marks = lines.flatMap((l) => l.points.map((p) => p.y)).concat(isKnown(fit.tolerance) ? [fit.tolerance] : []);
  const [low, high] = widened(d3.extent(marks));
  const chart = drawLines(byId("progress-figure"), lines, {
    y: d3.scale.log().domain([low / 1.5, high * 1.5]),
    yAxis: logAxis,
    yTitle: lines.map((l) => l.name.split(",")[0]).join(" and ").replace(/^./, (c) => c.toUpperCase()),
    label: `${lines.map((l) => l.name).join(" and ")} over the iterations`,
  });
  if (isKnown(fit.tolerance)) {
    const target = chart.root.append("g").attr("class", "target");
    const y = chart.y(fit.tolerance);
    target.append("line").attr({x1: 0, x2: chart.inner.width, y1: y, y2: y});
    target.append("text").attr({x: 6, y: y - 6}).text("tolerance");
  }
  byId("legend").hidden = lines.length < 2;
  byId("legend").replaceChildren(...lines.map((l) => element("span", {}, keyOf(l.look), l.name)));
}

function showHeldOut() {
  const points = pointsOf("held_out", false);
  byId("heldout").hidden = points.length === 0;
  if (points.length === 0) return;
  const [low, high] = d3.extent(points, (p) => p.y);
  const margin = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  const wide = low > 0 && high / low > 5;
  const chart = drawLines(byId("heldout-figure"), [{name: "held-out loss", look: 2, points}], {
    y: wide ? d3.scale.log().domain([low / 1.1, high * 1.1]) : d3.scale.linear().domain([low - margin, high + margin]),
    yAxis: wide ? logAxis : secondsAxis,
    yTitle: "Held-out loss",
    label: "Loss on samples held out over the iterations",
  });
  if (fit.kept !== null) markKept(chart);
}

// The iteration whose model was kept, on the side that has room for the word.
function markKept(chart) {
  const x = chart.x(fit.kept), isLeft = x > 0.8 * chart.inner.width;
  chart.root.append("line").attr({class: "now", x1: x, x2: x, y1: 0, y2: chart.inner.height});
  chart.root.append("text")
      .attr({class: "title kept", x: x + (isLeft ? -6 : 6), y: 12, "text-anchor": isLeft ? "end" : "start"})
      .text(`kept: iteration ${fit.kept}`);
}

// ----------------------------------------------------------------------------------------------------- coefficients

const {coefficients} = fit;
// What a feature's deviation changes, where that is known, else its unit.
const effect = (row, c) => coefficients.weights[row][c] * (coefficients.scale ? coefficients.scale[row] : 1);
const oneSigned = (numbers) => numbers.every((x) => x >= 0) || numbers.every((x) => x <= 0);

// Bars of both signs begin in the middle, those of one sign at the edge.
function barRow(row, largest, isAlike) {
  const x = effect(row, 0);
  const bar = element("i", {class: x < 0 ? "down" : "up"});
  bar.style.width = `${largest > 0 ? ((isAlike ? 100 : 50) * Math.abs(x)) / largest : 0}%`;
  return element(
      "tr", {}, element("td", {class: "text"}, coefficients.features[row]),
      element("td", {}, significant(coefficients.weights[row][0])),
      ...(coefficients.scale ? [element("td", {}, significant(x))] : []),
      element("td", {class: "drawn"}, element("div", {class: isAlike ? "track whole" : "track"}, bar)));
}

function heatRow(row, largest) {
  const cells = coefficients.outputs.map((_, c) => {
    const x = effect(row, c);
    const cell = element("td", {}, significant(x));
    const share = largest > 0 ? Math.round((50 * Math.abs(x)) / largest) : 0;
    cell.style.background = `color-mix(in srgb, var(${x < 0 ? "--c1" : "--c0"}) ${share}%, transparent)`;
    return cell;
  });
  return element("tr", {}, element("td", {class: "text"}, coefficients.features[row]), ...cells);
}

// Beside effects of deviations stands the score of a sample at the mean of all features.
function interceptRow(one) {
  const {intercept, at_mean: atMean} = coefficients;
  const numbers = one ? [...intercept, ...(atMean || [])] : atMean || intercept;
  const cells = numbers.map((b) => element("td", {}, significant(b)));
  return element(
      "tr", {class: "apart"}, element("td", {class: "text"}, "intercept"), ...cells, ...(one ? [element("td")] : []));
}

function coefficientHeads(one) {
  if (!one) return ["Feature", ...coefficients.outputs];
  return ["Feature", "Coefficient", ...(coefficients.scale ? ["Per deviation"] : []), ""];
}

function showCoefficients() {
  byId("coefficients").hidden = !coefficients;
  if (!coefficients) return;
  const one = coefficients.outputs.length === 1;
  const listed = coefficients.features.length;
  const shown = state.all ? listed : Math.min(FEW, listed);
  const largest = d3.max(coefficients.outputs.map((_, c) => Math.abs(effect(0, c)))) || 0;
  const heads = coefficientHeads(one).map(
      (text, n) => element("th", {scope: "col", class: n === 0 ? "text" : ""}, text));
  const isAlike = oneSigned(coefficients.features.map((_, row) => effect(row, 0)));
  const rows = d3.range(shown).map((row) => (one ? barRow(row, largest, isAlike) : heatRow(row, largest)));
  byId("coefficients-table").className = one ? "bars" : "shaded";
  byId("coefficients-table")
      .replaceChildren(
          element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows, interceptRow(one)));
  byId("more").hidden = listed <= FEW;
  byId("more").textContent = state.all ? `Show the largest ${FEW}` : `Show all ${listed}`;
  const {subject} = coefficients;
  byId("coefficients-note").textContent =
      (coefficients.scale ?
           (one ? "Coefficient: " : "Per deviation of the feature: ") + (one ?
                `what one unit of the feature, as in the file, adds to ${subject}; per deviation: what one standard ` +
                    `deviation of it adds, which makes features comparable. The intercept per deviation is ${subject} ` +
                    "where every feature has its mean." :
                `what one standard deviation adds to ${subject}, which makes features comparable; the intercept is ` +
                    `${subject} where every feature has its mean. The CSV has the coefficients per unit.`) :
           `What one unit of the feature adds to ${subject}. Features in different units cannot be compared this way.`) +
      (listed < coefficients.total ? ` ${listed} of ${coefficients.total} features; all are in the model's file.` : "");
}

// ----------------------------------------------------------------------------------------------------- other tables

function showTables() {
  const {rounds, vectors, scalars, gradients, seconds} = fit.traffic;
  const rows = [
    ["vectors sent over the links", String(vectors)],
    ["single numbers sent over the links", String(scalars)],
    ["rounds of messages", String(rounds)],
    ["gradients of samples or batches", String(gradients)],
    ["seconds", significant(seconds)],
  ];
  showPairs("traffic-table", rows);
  showSettings(fit.settings);
  showProvenance(fit.provenance);
}

const TABLES = {
  metrics() {
    return [
      ["metric", ...SAMPLES.map(([key]) => key)],
      ...fit.fitted.metrics.map((m, row) => [m[0], ...SAMPLES.map(([key]) => fit[key].metrics[row][1])])
    ];
  },
  progress() {
    const keys = ["gradient", "disagreement", "held_out"].filter((key) => fit.history[key]);
    return [
      ["iteration", ...keys],
      ...fit.history.iterations.map((i, n) => [i, ...keys.map((key) => fit.history[key][n])])
    ];
  },
  coefficients() {
    const {outputs, features, weights, scale, intercept} = coefficients;
    return [
      ["feature", ...outputs, ...(scale ? ["deviation"] : [])],
      ...features.map((name, row) => [name, ...weights[row], ...(scale ? [scale[row]] : [])]),
      ["intercept", ...intercept, ...(scale ? [""] : [])],
    ];
  },
};

function showFigures() {
  showProgress();
  showHeldOut();
}

byId("more").addEventListener("click", () => {
  state.all = !state.all;
  showCoefficients();
});
choice("samples-shown", SAMPLES, state.samples, chooseSamples);
start({title: () => fit.title, tables: TABLES, lines: {progress: shownLines}, draw: showFigures});
showHeader();
showMetrics();
showClasses();
showFigures();
showCoefficients();
showTables();
})();
