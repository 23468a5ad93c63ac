// The statistics of a cook, line by line, as series over frames.

import { lines as fetchLines } from "./api.js";

/** Keys of a line that are no measures of their own. */
const FRAMEWORK = new Set(["frame", "substep", "time", "step", "stages", "solves", "objects", "hash", "after"]);

/** Where frames are lists of things, `lists` has them by frame and key. */
export class Series {
  constructor(cook) {
    this.cook = cook;
    this.fps = 24;
    this.reset();
  }

  reset() {
    this.at = { next: 0, file: null };
    this.values = new Map();
    this.lists = new Map();
    this.stages = new Map();
    this.substeps = new Map();
    this.count = 0;
    this.version = (this.version ?? 0) + 1;
  }

  /** Reads what is new; true if there was something. */
  async read() {
    let changed = false;
    for (;;) {
      const got = await fetchLines(this.cook, this.at);
      if (got.file !== this.at.file) {
        const begun = this.at.file !== null;
        if (begun) this.reset();
        changed ||= begun;
        this.at.file = got.file;
      }
      const before = this.at.next;
      this.at.next = got.next;
      for (const line of got.text.split("\n")) {
        if (line) this.add(line);
      }
      if (got.text) changed = true;
      if (got.next >= got.length || got.next === before) break;
    }
    if (changed) this.version += 1;
    return changed;
  }

  add(text) {
    let line;
    try {
      line = JSON.parse(text);
    } catch {
      return;
    }
    if (typeof line.frame !== "number" || typeof line.dt !== "number") return;
    const x = 1 + (line.time + line.dt) * this.fps;
    this.count += 1;
    this.substeps.set(line.frame, (this.substeps.get(line.frame) ?? 0) + 1);
    for (const [key, value] of Object.entries(line)) {
      if (typeof value === "number" && !FRAMEWORK.has(key)) this.push(key, "", x, value);
      else if (Array.isArray(value) && value.length && typeof value[0] === "object" && !FRAMEWORK.has(key)) {
        this.push(`number of ${key}`, "", x, value.length);
        this.list(line.frame, key, value);
      } else if (Array.isArray(value) && !value.length && !FRAMEWORK.has(key)) {
        this.push(`number of ${key}`, "", x, 0);
        this.list(line.frame, key, value);
      }
    }
    for (const [object, measures] of Object.entries(line.objects ?? {})) {
      for (const [key, value] of Object.entries(measures)) {
        if (typeof value === "number") this.push(key, object, x, value);
        else if (Array.isArray(value) && value.every((v) => typeof v === "number")) {
          this.push(`|${key}|`, object, x, Math.hypot(...value));
        }
      }
    }
    this.solves(line, x);
    for (const [stage, seconds] of Object.entries(line.stages ?? {})) {
      const frames = this.stages.get(stage) ?? this.stages.set(stage, new Map()).get(stage);
      frames.set(line.frame, (frames.get(line.frame) ?? 0) + seconds);
    }
  }

  solves(line, x) {
    const sums = new Map();
    for (const solve of line.solves ?? []) {
      const of = sums.get(solve.name) ?? { iterations: 0, unknowns: 0, residual: 0 };
      of.iterations += solve.iterations ?? 0;
      of.unknowns = Math.max(of.unknowns, solve.unknowns ?? 0);
      of.residual = Math.max(of.residual, solve.residual ?? 0);
      sums.set(solve.name, of);
    }
    for (const [name, of] of sums) {
      for (const [key, value] of Object.entries(of)) this.push(key, name, x, value);
    }
  }

  list(frame, key, entries) {
    const lists = this.lists.get(frame) ?? this.lists.set(frame, new Map()).get(frame);
    lists.set(key, entries);
  }

  push(key, of, x, y) {
    const all = this.values.get(key) ?? this.values.set(key, new Map()).get(key);
    const series = all.get(of) ?? all.set(of, { x: [], y: [] }).get(of);
    series.x.push(x);
    series.y.push(y);
  }

  /** Names of everything that can be plotted. */
  keys() {
    return ["substeps a frame", "seconds a stage", ...[...this.values.keys()].sort()];
  }

  /** Lines of a plot: name, x (frames), y. */
  plot(key) {
    if (key === "substeps a frame") return [{ name: "", ...sorted(this.substeps) }];
    if (key === "seconds a stage") {
      const all = [...this.stages].map(([name, frames]) => ({ name, ...sorted(frames) }));
      return all.sort((a, b) => total(b) - total(a));
    }
    return [...(this.values.get(key) ?? [])].map(([name, of]) => ({ name, ...of }));
  }

  /** Seconds that the stages of a node took, in all and in the last frame that it took part in. */
  timesOf(node) {
    let all = 0, last = 0, frame = -Infinity;
    for (const [stage, frames] of this.stages) {
      if (stage.slice(0, stage.lastIndexOf(".")) !== node) continue;
      for (const [f, t] of frames) {
        all += t;
        if (f > frame) [frame, last] = [f, 0];
        if (f === frame) last += t;
      }
    }
    return { all, last, frame };
  }

  /** Seconds that all stages took. */
  get seconds() {
    let all = 0;
    for (const frames of this.stages.values()) for (const t of frames.values()) all += t;
    return all;
  }
}

function sorted(map) {
  const pairs = [...map].sort((a, b) => a[0] - b[0]);
  return { x: pairs.map((p) => p[0]), y: pairs.map((p) => p[1]) };
}

const total = (series) => series.y.reduce((a, b) => a + b, 0);

/** The unit of a measure, by the words of `stats.jsonl`. */
export function unit(key) {
  const bare = key.replaceAll("|", "");
  if (bare.startsWith("seconds")) return "s";
  if (bare === "dt") return "s";
  if (bare.endsWith("volume")) return "m³";
  if (bare.endsWith("energy")) return "J";
  if (bare.endsWith("mass")) return "kg";
  if (bare === "momentum") return "kg m/s";
  if (bare === "max_divergence") return "1/s";
  if (bare.endsWith("bytes")) return "B";
  return "";
}
