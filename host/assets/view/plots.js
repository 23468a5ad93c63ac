// Plots of the statistics over frames.

import { h, number, put, s } from "./dom.js";
import { unit } from "./series.js";

const COLOURS = ["#4aa8ff", "#56c596", "#ffb454", "#ff7f9a", "#b79cff", "#5fd4e0", "#e0d15f", "#a3b1c2"];
const KEPT = "meniscus-plots";
/** Points of a line that are drawn for every pixel. */
const PER_PIXEL = 2;

/** What is shown first: of these, those that there are. */
const FIRST = ["volume", "kinetic_energy", "iterations", "substeps a frame", "seconds a stage"];

export class Plots {
  constructor(element, go) {
    this.element = element;
    this.go = go;
    this.keys = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    this.select = h("select", { "aria-label": "Add a plot", onchange: () => this.add(this.select.value) });
    this.adder = h("div", { class: "plot more" }, h("h2", null, "Any statistic"), this.select,
      h("small", null, "Click a plot to go to its frame."));
    this.cards = new Map();
    element.append(this.adder);
  }

  add(key) {
    if (key) this.keep([...this.shown(), key]);
  }

  remove(key) {
    this.keep(this.shown().filter((k) => k !== key));
  }

  keep(keys) {
    this.keys = keys;
    sessionStorage.setItem(KEPT, JSON.stringify(keys));
    this.redraw();
  }

  shown() {
    return this.keys ?? FIRST.filter((key) => this.all().includes(key));
  }

  all() {
    return [...new Set((this.cooks ?? []).flatMap((c) => c.series.keys()))];
  }

  /** `cooks`: one or two `{series, mark}`. */
  draw(cooks, range, frame) {
    Object.assign(this, { cooks, range, frame });
    this.redraw();
  }

  /** Moves the line of the present frame alone. */
  at(frame) {
    this.frame = frame;
    for (const card of this.cards.values()) card.at(frame);
  }

  redraw() {
    if (!this.cooks) return;
    const shown = this.shown();
    const options = this.all().filter((key) => !shown.includes(key));
    put(this.select, h("option", { value: "" }, "Add a plot …"), options.map((key) => h("option", { value: key }, key)));
    for (const [key, card] of this.cards) {
      if (!shown.includes(key)) {
        card.element.remove();
        this.cards.delete(key);
      }
    }
    for (const key of shown) {
      if (!this.cards.has(key)) {
        const card = new Card(key, (frame) => this.go(frame), () => this.remove(key));
        this.cards.set(key, card);
        this.element.insertBefore(card.element, this.adder);
      }
      this.cards.get(key).draw(this.cooks, this.range, this.frame);
    }
  }
}

class Card {
  constructor(key, go, close) {
    this.key = key;
    this.value = h("span", { class: "value number" });
    this.svg = s("svg");
    this.legend = h("div", { class: "keys" });
    const button = h("button", { class: "close", title: "Remove", "aria-label": `Remove ${key}`, onclick: close }, "×");
    this.element = h("div", { class: "plot", "data-key": key },
      h("header", null, h("h2", { title: key }, key), this.value, button), this.svg, this.legend);
    this.svg.addEventListener("pointerdown", (event) => this.seek(event, go));
    this.svg.addEventListener("pointermove", (event) => (event.buttons ? this.seek(event, go) : this.hover(event)));
    this.svg.addEventListener("pointerleave", () => this.at(this.frame));
    new ResizeObserver(() => this.cooks && this.draw(this.cooks, this.range, this.frame)).observe(this.svg);
  }

  seek(event, go) {
    go(Math.round(this.frameAt(event)));
  }

  frameAt(event) {
    const box = this.svg.getBoundingClientRect();
    const [a, b] = this.range;
    const part = (event.clientX - box.left - this.left) / Math.max(box.width - this.left - 4, 1);
    return Math.min(Math.max(a + part * (b - a), a), b);
  }

  hover(event) {
    if (this.range) this.tell(this.frameAt(event));
  }

  draw(cooks, range, frame) {
    Object.assign(this, { cooks, range, frame });
    const names = [...new Set(cooks.flatMap(({ series }) => series.plot(this.key).map((l) => l.name)))];
    const stacked = this.key === "seconds a stage" && cooks.length === 1;
    this.lines = cooks.flatMap(({ series, mark }) => series.plot(this.key).map((line) => ({
      ...line, mark, colour: COLOURS[names.indexOf(line.name) % COLOURS.length],
    })));
    if (cooks.length > 1 && names.length === 1) {
      this.lines.forEach((line) => (line.colour = line.mark === "b" ? "#d59bff" : COLOURS[0]));
    }
    const most = stacked ? this.stack() : Math.max(...this.lines.map((l) => greatest(l.y, Math.max)));
    const least = stacked ? 0 : Math.min(...this.lines.map((l) => greatest(l.y, Math.min)));
    this.paint(least, most, stacked);
    put(this.legend, this.lines.filter((l) => l.name && l.mark !== "b").slice(0, 6).map((l) =>
      h("span", { title: l.name }, h("i", { style: { background: l.colour } }), l.name)));
    this.tell(frame);
  }

  /** Puts lines on top of each other; how high they reach. */
  stack() {
    const sums = new Map();
    for (const line of this.lines) {
      line.base = line.x.map((x) => sums.get(x) ?? 0);
      line.top = line.y.map((y, i) => line.base[i] + y);
      line.x.forEach((x, i) => sums.set(x, line.top[i]));
    }
    return greatest([...sums.values()], Math.max);
  }

  paint(least, most, stacked) {
    const width = this.svg.clientWidth || 260, height = this.svg.clientHeight || 110;
    if (!Number.isFinite(most)) {
      put(this.svg, s("text", { class: "axis", x: 8, y: 20 }, "nothing yet"));
      this.now = null;
      return;
    }
    // Changes of volume are a per mille: a plot begins at nought only if its values come near to it.
    let [low, high] = least >= 0 && least < 0.6 * most ? [0, most] : [least, most];
    const whole = this.lines.every((l) => l.y.every(Number.isInteger));
    const leastSlack = whole ? 0.5 : high > low ? 0 : Math.max(Math.abs(high) * 0.01, 1e-12);
    const slack = Math.max(0.06 * (high - low), leastSlack);
    high += slack;
    if (low !== 0) low -= slack;
    this.left = 8;
    const [a, b] = this.range;
    const x = (f) => this.left + ((f - a) / Math.max(b - a, 1)) * (width - this.left - 4);
    const y = (v) => 4 + (1 - (v - low) / (high - low)) * (height - 8);
    this.x = x;
    const rules = ticks(low, high, whole).map(([v, name]) => [
      s("line", { class: "rule", x1: this.left, x2: width - 4, y1: y(v), y2: y(v) }),
      s("text", { class: "axis", x: this.left + 1, y: y(v) - 2 }, name),
    ]);
    const paths = this.lines.map((line) => stacked
      ? s("path", { d: area(line, x, y), fill: line.colour, opacity: 0.75 })
      : s("path", { class: `line ${line.mark}`, d: path(line.x, line.y, x, y, width), stroke: line.colour }));
    this.now = s("line", { class: "now", y1: 2, y2: height - 2 });
    const [lines, names] = [0, 1].map((n) => rules.map((rule) => rule[n]));
    put(this.svg, lines, paths, names, this.now);
    this.now = this.svg.lastElementChild;
    this.mark();
  }

  at(frame) {
    this.frame = frame;
    this.mark();
    this.tell(frame);
  }

  mark() {
    if (!this.now || !this.x) return;
    this.now.setAttribute("x1", this.x(this.frame));
    this.now.setAttribute("x2", this.x(this.frame));
  }

  /** The value at a frame: of the first line of each cook, or the sum of what is stacked. */
  tell(frame) {
    const marks = [...new Set((this.lines ?? []).map((l) => l.mark))];
    const sum = this.key === "seconds a stage";
    const told = marks.map((mark) => {
      const lines = this.lines.filter((l) => l.mark === mark);
      const values = (sum ? lines : lines.slice(0, 1)).map((l) => valueAt(l, frame)).filter((v) => v !== null);
      return values.length ? number(values.reduce((p, q) => p + q, 0), 4) : "–";
    });
    put(this.value, told.length ? `${told.join(" · ")} ${unit(this.key)}` : "");
  }
}

/** Round values within a range, two to five of them, and how they are written. */
function ticks(low, high, whole) {
  const rough = (high - low) / 5;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const round = ten * [1, 2, 5, 10].find((n) => n * ten >= rough * 0.999);
  const step = whole ? Math.max(Math.round(round), 1) : round;
  const digits = Math.max(-Math.floor(Math.log10(step) + 1e-9), 0);
  const all = [];
  // The lowest has no room for its name.
  for (let n = Math.ceil((low + 0.1 * (high - low)) / step); n * step < high - 0.08 * (high - low); n += 1) {
    const v = n * step;
    const plain = Math.abs(v) < 1e5 && digits <= 8;
    all.push([v, plain ? v.toFixed(digits) : number(v, 3)]);
  }
  return all;
}

/** The value that a line has at a frame: the last one up to then. */
function valueAt({ x, y }, frame) {
  let low = 0, high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] <= frame + 1e-6) low = middle + 1;
    else high = middle;
  }
  return low ? y[low - 1] : null;
}

const greatest = (values, of) => values.reduce((a, b) => (Number.isFinite(b) ? of(a, b) : a), of === Math.max ? -Infinity : Infinity);

/** A line; where there are more points than pixels, the least and the greatest of each pixel's. */
function path(xs, ys, x, y, width) {
  const parts = [];
  const add = (i) => parts.push(`${parts.length ? "L" : "M"}${x(xs[i]).toFixed(1)} ${y(ys[i]).toFixed(1)}`);
  if (xs.length <= PER_PIXEL * width) {
    xs.forEach((_, i) => add(i));
    return parts.join("");
  }
  const group = Math.ceil(xs.length / width);
  for (let begin = 0; begin < xs.length; begin += group) {
    let [low, high] = [begin, begin];
    for (let i = begin; i < Math.min(begin + group, xs.length); i += 1) {
      if (ys[i] < ys[low]) low = i;
      if (ys[i] > ys[high]) high = i;
    }
    for (const i of [Math.min(low, high), Math.max(low, high)]) add(i);
  }
  return parts.join("");
}

function area({ x: xs, base, top }, x, y) {
  const there = xs.map((f, i) => `${x(f).toFixed(1)} ${y(top[i]).toFixed(1)}`);
  const back = xs.map((f, i) => `${x(f).toFixed(1)} ${y(base[i]).toFixed(1)}`).reverse();
  return there.length ? `M${[...there, ...back].join("L")}Z` : "";
}
