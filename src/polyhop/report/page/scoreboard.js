// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Draws scoreboard.html from the data in it, with what common.js gives.
(function() {
"use strict";

const {
  byId,
  isKnown,
  element,
  significant,
  amount,
  plural,
  strokeOf,
  keyOf,
  keyed,
  plot,
  labelRoom,
  endLabels,
  spotlight,
  tipAcross,
  follow,
  hideTip,
  table,
  showProvenance,
  choice,
  legend,
  start
} = page;
const {headline, board} = page.data;

const SCORES = [
  ["iterations", "Iterations", "iterations to the target"],
  ["vectors", "Vectors", "vectors sent until the target, those of the step sizes among them"],
  ["final_risk", "Final risk", "excess risk of the last iterates"],
  ["final_risk_averaged", "Final risk, averaged", "excess risk of the averaged iterates at the end"],
  [
    "equal_vectors", "Risk at equal vectors",
    "excess risk of the last iterates when a method has sent as many vectors as the baseline's whole run"
  ],
  [
    "equal_vectors_averaged", "Risk at equal vectors, averaged",
    "excess risk of the averaged iterates when a method has sent as many vectors as the baseline's whole run"
  ],
];
const PROFILED = SCORES.filter(([key]) => key in board.profiles && board.profiles[key].instances > 0);
const DIVERGED = ["diverged", "Diverged runs", "runs that diverged, of all"];
const RIVALS = [["baseline", "the baseline"], ["best", "the best of all tuned methods"]];
const BOUNDS = ["1.05", "1.5", "3"];
const NEVER = "\u2013";
const TOP = 5;  // methods whose profiles have colours; the others are grey

// Best methods first, everywhere.
const names = board.methods.map((m) => m.method);
const lookOf = (name) => names.indexOf(name);
const state = {
  summary: "iterations",
  rival: "baseline",
  profile: (PROFILED[0] || SCORES[0])[0],
  ratio: "iterations",
  pointed: null,
  chosen: null,
  hidden: new Set()
};

// The numbers of a score against whom methods are compared with.
const summaryOf = (method, score) => (state.rival === "best" ? method[score].best : method[score]);
const ratioOf = (entry, score) => (state.rival === "best" ? entry[score].best_ratio : entry[score].ratio);
const rivalText = () => (state.rival === "best" ? "that of the best tuned method of the instance" : "the baseline's");
const rivalName = () => (state.rival === "best" ? "the best tuned method" : "the baseline");

// A mean that leaves out more than a fifth of the instances says little of the method.
const isFew = ({averaged}) => averaged < 0.8 * board.instances.length;

// A ratio to the baseline as on the terminal; "+" where the baseline never got there.
function ratioText(ratio) {
  if (!isKnown(ratio)) return NEVER;
  if (ratio === 0) return "+";
  return ratio < 1000 ? significant(ratio) : amount(ratio);
}

// Profiles keep the order of the records.
const indexOf = (name) => board.profiles.methods.indexOf(name);
const shareText = (part, whole) => (whole > 0 ? `${part}/${whole}` : NEVER);
const scoreName = (list, key) => list.find((s) => s[0] === key);

// Whether there are baselines, none of which reached the target.
const baselineOf = (instance) => instance.methods.find((m) => instance.baseline && instance.baseline.method === m.method);
const baselines = board.instances.map(baselineOf).filter(Boolean);
const baselineIsLost = baselines.length > 0 && baselines.every((m) => !isKnown(m.iterations.value));

// Lets a reader choose the score that one entry of the state names.
function chooseScore(entry, list, show) {
  choice(entry + "-score", list.map(([key, title]) => [key, title.toLowerCase()]), state[entry], (key) => {
    state[entry] = key;
    show();
  });
}

// ------------------------------------------------------------------------------------------------------ the methods

// Where the baseline never got there, no ratio says how good a method is.
function headlineWithoutRatios() {
  const [first] = board.methods;
  if (first.solved === 0) {
    return `No method reached the target. ${first.method} comes closest, by the excess risk of the last iterates.`;
  }
  return `The tuned constant never reached the target. ${first.method} did on ${first.solved} of ` +
      `${plural(board.instances.length, "instance")}.`;
}

// The method without a search that is near the baseline most often.
function showHeadline() {
  const missing = d3.sum(board.instances, (i) => d3.sum(i.methods, (m) => m.missing));
  byId("facts").textContent = headline + (missing > 0 ? `; ${plural(missing, "run")} not finished` : "");
  if (baselineIsLost) {
    byId("headline").textContent = headlineWithoutRatios();
    return;
  }
  const best = board.methods.filter((m) => !m.search && m.iterations.comparable > 0)
                   .sort(
                       (a, b) => b.iterations["within_1.5"] - a.iterations["within_1.5"] ||
                           a.iterations.geometric_mean - b.iterations.geometric_mean)[0];
  byId("headline").hidden = !best;
  if (!best) return;
  const {geometric_mean: mean, averaged} = best.iterations;
  const all = board.instances.length, {comparable} = best.iterations;
  byId("headline").textContent =
      `${best.method} is within 1.5 times the tuned constant's iterations on ${best.iterations["within_1.5"]} of ` +
      (comparable < all ? `${comparable} comparable instances (${all} in all)` : plural(all, "instance")) +
      (!isKnown(mean)   ? "." :
           averaged > 1 ? `; over the ${averaged} where both reach the target, the geometric mean is ${ratioText(mean)}.` :
                          `; it takes ${ratioText(mean)} times as many on the only one where both reach the target.`);
}

const noted = (text, note) => element("span", {}, text, element("small", {}, note));

// A geometric mean and of how many instances; pale and in brackets where those are few.
function meanText(summary, over = (part, all) => `over ${part} of ${all}`) {
  const {geometric_mean: mean, averaged} = summary;
  if (!isKnown(mean)) return NEVER;
  const few = isFew(summary);
  const out = noted(few ? `(${ratioText(mean)})` : ratioText(mean), over(averaged, board.instances.length));
  if (few) out.className = "few";
  return out;
}

const isBaseline = (name) => board.instances.some((i) => i.baseline && i.baseline.method === name);

const isCount = (score) => score === "iterations" || score === "vectors";

function methodText({method}) {
  return keyed(lookOf(method), method, ...(isBaseline(method) ? [element("small", {}, "the baseline")] : []));
}

function showSummary() {
  const score = state.summary;
  const [, , what] = scoreName(SCORES, score);
  const all = board.instances.length;
  const worst = ({worst: x, worst_instance: where, comparable}) =>
      (comparable > 0 ? noted(isKnown(x) ? ratioText(x) : "never", where) : NEVER);
  const columns = [
    ["Method", methodText, true],
    ["Solved", (m) => shareText(m.solved, m.instances)],
    ["Mean", (m) => (baselineIsLost && isCount(score) && isBaseline(m.method) ? "never" : meanText(summaryOf(m, score)))],
    ...BOUNDS.map(
        (b) => [`\u2264 ${b}`, (m) => shareText(summaryOf(m, score)[`within_${b}`], summaryOf(m, score).comparable)]),
    ["Worst", (m) => worst(summaryOf(m, score))],
    ["Ran on", (m) => shareText(m.instances, all)],
    ["Diverged", (m) => shareText(m.diverged, m.runs)],
    ["Trial runs", (m) => (m.search ? amount(m.search.trials) : "none")],
  ];
  table(byId("summary-table"), columns, board.methods);
  byId("summary-note").textContent = `By ${what}, each as a ratio to ${rivalText()}; below 1 is better. Solved: ` +
      `instances where most runs reached the target; most solved first${
                                        baselineIsLost ? ", then fewest iterations, then lowest final risk" : ""}. Mean: geometric, over the instances where ` +
      `the method and ${rivalName()} both have a number; in brackets where that leaves out more than a fifth of the ` +
      `${plural(all, "instance")}. \u2264: how many of the instances that can be compared are within that ratio. ` +
      "Trial runs: the cost of finding the constants, which no ratio counts.";
}

// ------------------------------------------------------------------------------------------------------ the profile

const profile = () => board.profiles[state.profile];

// Of the shown methods the first few have colours.
function profiledMethods() {
  const colours = names.filter((name) => !state.hidden.has(name)).slice(0, TOP);
  return names.map((name, look) => ({key: name, name, look, muted: !colours.includes(name)}));
}
const shownMethods = () => profiledMethods()
                               .filter((m) => !state.hidden.has(m.key))
                               .map((m) => ({...m, ratios: profile().ratios[indexOf(m.name)]}));

// What stands below a saved figure: the methods with colours, and how many are grey.
function explainedMethods() {
  const methods = shownMethods();
  const grey = methods.filter((m) => m.muted);
  const others = grey.slice(0, 1).map((m) => ({...m, name: plural(grey.length, "other method")}));
  return [...methods.filter((m) => !m.muted), ...others];
}

const {light, pointAt, toggleChosen} = spotlight("profile-figure", state);

// Corners of the staircase: at each ratio the share jumps by one instance.
function stairs(ratios, end) {
  const all = Math.max(1, profile().instances);
  const points = [{tau: 1, share: 0}, ...ratios.map((tau, n) => ({tau, share: (n + 1) / all}))];
  const inside = points.filter((p) => p.tau <= end);
  return inside.concat({tau: end, share: inside[inside.length - 1].share});
}

// 1, 2, 5, 10, ... while there are few, else decades.
function tauAxis(scale, count) {
  const [low, high] = scale.domain();
  const decades = d3.range(0, Math.ceil(Math.log10(high)) + 1).map((n) => Math.pow(10, n));
  const round = decades.flatMap((d) => [1, 1.2, 1.5, 2, 3, 5, 7].map((k) => k * d));
  const inside = (list) => list.filter((t) => t >= low * (1 - 1e-9) && t <= high * (1 + 1e-9));
  const kinds = [round, decades.flatMap((d) => [d, 2 * d, 5 * d]), decades];
  const ticks = kinds.map(inside).find((list) => list.length <= count + 2) || inside(decades);
  return d3.svg.axis().scale(scale).tickValues(ticks).tickFormat((t) => amount(Number(t.toPrecision(3))));
}

const percentAxis = (scale) =>
    d3.svg.axis().scale(scale).tickValues([0, 0.25, 0.5, 0.75, 1]).tickFormat((t) => Math.round(100 * t) + "%");

function showProfile() {
  byId("profile").hidden = PROFILED.length === 0;
  if (PROFILED.length === 0) return;
  const methods = shownMethods();
  const [, title, what] = scoreName(PROFILED, state.profile);
  // One hopeless method shall not squeeze all the others.
  const largest = d3.max(methods.flatMap((m) => m.ratios)) || 1;
  const end = Math.min(1e4, Math.max(1.5, largest * 1.15));
  const figure = byId("profile-figure");
  const leading = methods.filter((m) => !m.muted);
  const room = labelRoom(figure, leading.map((m) => m.name));
  const chart = plot(figure, {
    // With room at the edges for the line of a method that is always best.
    x: d3.scale.log().domain([Math.pow(end, -0.02), end]),
    y: d3.scale.linear().domain([0, 1.04]),
    xAxis: tauAxis,
    yAxis: percentAxis,
    xTitle: "\u03c4, times the best method's " + title.toLowerCase(),
    yTitle: "Instances solved",
    right: room,
    height: Math.round(Math.min(500, Math.max(300, figure.clientWidth * 0.42))),
    label:
        `Share of instances solved within tau times the best, by ${what}, of ${methods.map((m) => m.name).join(", ")}`,
  });
  const line = d3.svg.line().x((p) => chart.x(p.tau)).y((p) => chart.y(p.share)).interpolate("step-after");
  // The best are drawn last, over the others.
  for (const method of methods.slice().reverse()) {
    const muted = method.muted ? " muted" : "";
    chart.marks.append("path").attr(
        {class: `line ${strokeOf(method.look)}${muted}`, "data-key": method.key, d: line(stairs(method.ratios, end))});
  }
  const ends = leading.map((m) => {
    const corners = stairs(m.ratios, end);
    return {...m, x: chart.inner.width, y: chart.y(corners[corners.length - 1].share)};
  });
  endLabels(chart, room, ends, toggleChosen);
  follow(chart, () => showTip(chart, methods));
  chart.marks.select(".background").on("mouseleave", () => {
    hideTip();
    pointAt(null);
  });
  light();
  byId("profile-note").textContent = `By ${what}. For each \u03c4 the share of the ${
                                         plural(profile().instances, "instance")} that any method solved ` +
      "on which a method needs at most \u03c4 times what the best one needs there (Dolan and Mor\u00e9 2002). At the " +
      "left: how often it is the best; at the right: how often it gets there at all. The search for the tuned " +
      "constant is not counted here." +
      (methods.length > TOP ? ` The best ${TOP} have colours; point at a name above to see another.` : "");
}

function showTip(chart, methods) {
  const [left] = d3.mouse(chart.marks.node());
  const tau = Math.max(1, chart.x.invert(left));
  const rows = methods.map((m) => ({m, solved: d3.bisectRight(m.ratios, tau * (1 + 1e-12))}))
                   .sort((a, b) => b.solved - a.solved)
                   .slice(0, 14);
  tipAcross(
      chart, left, `within ${significant(tau)} times the best`,
      rows.map(({m, solved}) => [m.look, m.name, shareText(solved, profile().instances)]));
}

// ---------------------------------------------------------------------------------------------------- the instances

// A method that never got there is lost, unless the baseline did not get there either.
function shade(ratio, value, baseline) {
  if (ratio === null) return value === null && isKnown(baseline) ? "lost" : "none";
  return ratio <= 1.05 ? "best" : ratio <= 1.5 ? "near" : ratio <= 3 ? "" : "far";
}

// What the methods of an instance are compared with: a value, where there is one.
function rivalOf(instance, baseline) {
  if (state.rival === "baseline") return baseline ? baseline[state.ratio].value : null;
  const tuned = instance.methods.filter((m) => m.search).map((m) => m[state.ratio].value).filter(isKnown);
  return tuned.length > 0 ? d3.min(tuned) : null;
}

function ratioCell(instance, entry) {
  if (entry.runs === 0) return element("td", {class: "none", title: "no run"}, NEVER);
  if (state.ratio === "diverged") {
    return element("td", {class: entry.diverged > 0 ? "lost" : ""}, shareText(entry.diverged, entry.runs));
  }
  const {value} = entry[state.ratio];
  const ratio = ratioOf(entry, state.ratio);
  const baseline = baselineOf(instance);
  const known = isKnown(value) ? (isCount(state.ratio) ? amount(value) : significant(value)) : "never";
  const title = `${entry.method} on ${instance.name}: ${known}, ${entry.reached} of ${entry.runs} reached the target` +
      (entry.diverged > 0 ? `, ${entry.diverged} diverged` : "") +
      (entry.missing > 0 ? `, ${entry.missing} not finished` : "");
  const look = shade(ratio, value, rivalOf(instance, baseline)) + (baseline === entry ? " base" : "");
  const isLost = baseline === entry && isCount(state.ratio) && !isKnown(value);
  return element("td", {class: look, title}, isLost ? "never" : ratioText(ratio));
}

function instanceCell(i) {
  const facts = [plural(i.agents, "agent"), i.topology, i.loss, i.batch && "batch " + i.batch].filter(Boolean);
  return element("td", {class: "text"}, i.name, element("small", {}, facts.join(" \u00b7 ")));
}

const entryOf = (instance, name) => instance.methods.find((m) => m.method === name);

function showRatios() {
  const head = element(
      "tr", {}, element("th", {scope: "col", class: "text"}, "Instance"),
      ...names.map(
          (name) => element("th", {scope: "col"}, element("span", {class: "upright"}, name), keyOf(lookOf(name)))));
  const body = board.instances.map(
      (i) => element("tr", {}, instanceCell(i), ...names.map((name) => ratioCell(i, entryOf(i, name)))));
  const parts = [element("thead", {}, head), element("tbody", {}, ...body)];
  if (state.ratio !== "diverged") {
    const means = board.methods.map((m) => element("td", {}, meanText(summaryOf(m, state.ratio), shareText)));
    parts.push(element("tfoot", {}, element("tr", {}, element("td", {class: "text"}, "geometric mean"), ...means)));
  }
  byId("ratio-table").replaceChildren(...parts);
  byId("ratio-table").classList.toggle("crowded", names.length > 9);
  showRatioNote();
}

function showRatioNote() {
  const [, , what] = scoreName([...SCORES, DIVERGED], state.ratio);
  const note = byId("ratio-note");
  byId("shades").hidden = state.ratio === "diverged";
  if (state.ratio === "diverged") {
    note.textContent = `Shown: ${what}.`;
    return;
  }
  note.textContent =
      `Shown: ${what}, relative to ${rivalText()}, medians over seeds; the baseline is bold. Best methods first. +: ` +
      `reached, while ${rivalName()} did not. Excess risks below round-off (1e-13 of the risk at the start, or the ` +
      "accuracy of the reference) are raised to it on both sides.";
}

const SHADES = [["best", "up to 1.05"], ["near", "to 1.5"], ["", "to 3"], ["far", "above 3"], ["lost", "never"]];
byId("shades").replaceChildren(...SHADES.map(
    ([shadeName, text]) => element("span", {}, element("span", {class: "swatch " + shadeName}), text)));

// ----------------------------------------------------------------------------------------------------- other tables

function showTables() {
  const tuned = board.instances.filter((i) => i.baseline);
  byId("tunings").hidden = tuned.length === 0;
  table(
      byId("tunings-table"),
      [
        ["Instance and baseline", (i) => noted(i.name, i.baseline.method), true],
        ["Step found", (i) => significant(i.baseline.step)],
        ["Goal", (i) => i.baseline.goal, true],
        ["Trial runs", (i) => amount(i.baseline.trials)],
        ["Iterations", (i) => amount(i.baseline.iterations)],
        ["Vectors", (i) => amount(i.baseline.vectors)],
        ["Seconds", (i) => significant(i.baseline.seconds)],
        ["Target", (i) => significant(i.target)],
        ["Seeds", (i) => String(i.seeds.length)],
      ],
      tuned);
  showProvenance([...Object.entries(board.provenance), ["seconds inside iterations", significant(board.seconds)]]);
}

const TABLES = {
  methods() {
    const keys =
        ["geometric_mean", "averaged", "comparable", ...BOUNDS.map((b) => `within_${b}`), "worst", "worst_instance"];
    const head = [
      "method", "instances", "solved", "runs", "diverged", ...SCORES.flatMap(([s]) => keys.map((k) => `${s} ${k}`)),
      ...SCORES.flatMap(([s]) => keys.map((k) => `${s} best ${k}`))
    ];
    return [
      head,
      ...board.methods.map(
          (m) =>
              [m.method, m.instances, m.solved, m.runs, m.diverged,
               ...SCORES.flatMap(([s]) => keys.map((k) => m[s][k])),
               ...SCORES.flatMap(([s]) => keys.map((k) => m[s].best[k]))])
    ];
  },
  profile() {
    const all = Math.max(1, profile().instances);
    return [
      ["method", "tau", "share"],
      ...names.flatMap((name) => profile().ratios[indexOf(name)].map((tau, n) => [name, tau, (n + 1) / all]))
    ];
  },
  instances() {
    const head = [
      "instance", "method", "runs", "reached", "diverged",
      ...SCORES.flatMap(([s]) => [s, `${s} ratio`, `${s} best ratio`])
    ];
    return [
      head,
      ...board.instances.flatMap(
          (i) => i.methods.map(
              (m) =>
                  [i.name, m.method, m.runs, m.reached, m.diverged,
                   ...SCORES.flatMap(([s]) => [m[s].value, m[s].ratio, m[s].best_ratio])]))
    ];
  },
};

chooseScore("summary", SCORES, showSummary);
choice("rival", board.instances.some((i) => i.baseline) ? RIVALS : [], state.rival, (key) => {
  state.rival = key;
  showSummary();
  showRatios();
});
chooseScore("profile", PROFILED, showProfile);
chooseScore("ratio", [...SCORES, DIVERGED], showRatios);
start({title: () => "scoreboard", tables: TABLES, lines: {profile: explainedMethods}, draw: showProfile});
showHeadline();
showSummary();
legend(profiledMethods, {hidden: state.hidden, draw: showProfile, point: pointAt});
showProfile();
showRatios();
showTables();
})();
