// The network: a row for every node in the order of the graph, its wires as arcs on the left, its state and times.

import { put, s, seconds } from "./dom.js";

const ROW = 34;
const GUTTER = 74;
const WIDTH = 330;

/** The description of a node's type; graphs may leave out the namespace. */
export function typeOf(types, node) {
  return types.get(node.type) ?? types.get(`meniscus.${node.type}`);
}

/** Nodes that feed a node, by name. */
function inputs(node) {
  return (node.inputs ?? []).map((input) => (typeof input === "string" ? input : input?.node)).filter(Boolean);
}

/** Nodes so that every one stands below those that feed it, near to them. */
function ordered(nodes) {
  const byName = new Map(nodes.map((n) => [n.name, n]));
  const placed = new Set(), order = [];
  const place = (node, depth) => {
    if (placed.has(node.name) || depth > nodes.length) return;
    placed.add(node.name);
    for (const name of inputs(node)) if (byName.has(name)) place(byName.get(name), depth + 1);
    order.push(node);
  };
  nodes.forEach((node) => place(node, 0));
  return order;
}

/** Frames of some ranges. */
const count = (ranges) => ranges.reduce((sum, [a, b]) => sum + b - a + 1, 0);

/** What a node does: its state's word, what is told of it, and how much of its bar is full. */
export function status(node, summary, series) {
  const files = summary.files.filter((f) => f.node === node.name && f.wanted && f.frames.length);
  const failed = summary.state === "failed" && (summary.message ?? "").includes(`\`${node.name}\``);
  const live = summary.state === "cooking";
  if (files.length) {
    const there = Math.max(...files.map((f) => count(f.frames)));
    const wanted = Math.max(...files.map((f) => f.wanted[1] - f.wanted[0] + 1));
    const word = failed ? "failed" : live && there < wanted ? "cooking" : "cached";
    return { word, told: `${there}/${wanted}`, part: wanted ? there / wanted : 0, title: `${there} of ${wanted} frames are cached` };
  }
  const times = series.timesOf(node.name);
  const all = series.seconds;
  const word = failed ? "failed" : node.bypass ? "bypass" : !times.all ? "" : live ? "cooking" : "done";
  return {
    word,
    told: node.bypass ? "bypassed" : times.all ? seconds(times.all) : "",
    part: all ? times.all / all : 0,
    title: times.all
      ? `${seconds(times.all)} in all, ${Math.round((100 * times.all) / all)} % of the cook; ${seconds(times.last)} in frame ${times.frame}`
      : "",
  };
}

export class Network {
  constructor(element, choose) {
    this.element = element;
    this.choose = choose;
    this.title = document.createElement("h2");
    this.title.textContent = "Network";
    this.box = document.createElement("div");
    element.append(this.title, this.box);
  }

  draw(summary, series, types, chosen) {
    const nodes = ordered(summary?.nodes ?? []);
    const row = new Map(nodes.map((n, i) => [n.name, i]));
    const y = (i) => ROW * i + ROW / 2;
    const wires = [];
    nodes.forEach((node, i) => {
      for (const name of inputs(node)) {
        const from = row.get(name);
        if (from === undefined) continue;
        const reach = Math.min(GUTTER - 14, 7 + 7 * Math.sqrt(2 * Math.abs(i - from)));
        const kind = chosen === node.name ? "into" : chosen === name ? "out" : "";
        const x = GUTTER;
        const d = `M${x} ${y(from)} C${x - reach * 1.35} ${y(from)} ${x - reach * 1.35} ${y(i)} ${x} ${y(i)}`;
        wires.push(s("path", { class: `wire ${kind}`, d }));
      }
    });
    // Those of the chosen node lie on top.
    wires.sort((a, b) => a.getAttribute("class").length - b.getAttribute("class").length);
    const rows = nodes.map((node, i) => this.row(node, y(i), status(node, summary, series), types, chosen));
    put(this.box, s("svg", { viewBox: `0 0 ${WIDTH} ${ROW * nodes.length + 8}`, role: "tree" }, wires, rows));
    this.box.onclick = (event) => {
      const name = event.target.closest?.(".node")?.dataset.name;
      if (name !== undefined) this.choose(name);
    };
    this.box.onkeydown = (event) => {
      if (event.key === "Enter" || event.key === " ") this.box.onclick(event);
    };
  }

  row(node, y, state, types, chosen) {
    const type = typeOf(types, node);
    const classes = ["node", state.word, node.bypass ? "bypass" : "", chosen === node.name ? "chosen" : ""];
    return s("g", { class: classes.join(" ").trim(), "data-name": node.name, tabindex: 0, role: "treeitem" },
      s("title", null, [node.name, type?.help, state.title].filter(Boolean).join("\n")),
      s("rect", { class: "row", x: GUTTER - 9, y: y - ROW / 2 + 1, width: WIDTH - GUTTER + 2, height: ROW - 2, rx: 6 }),
      s("circle", { class: "dot", cx: GUTTER, cy: y, r: 4.5 }),
      s("text", { class: "name", x: GUTTER + 14, y: y - 2 }, cut(node.name, 24)),
      s("text", { class: "type", x: GUTTER + 14, y: y + 11 }, cut(type?.label ?? node.type ?? "", 28)),
      s("text", { class: "told", x: WIDTH - 12, y: y - 1 }, state.told),
      s("rect", { class: "bar", x: WIDTH - 72, y: y + 5, width: 60, height: 3, rx: 1.5 }),
      s("rect", { class: "part", x: WIDTH - 72, y: y + 5, width: 60 * Math.min(Math.max(state.part, 0), 1), height: 3, rx: 1.5 }));
  }
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
