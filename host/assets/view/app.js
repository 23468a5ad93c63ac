// Puts the page together: asks the server, keeps what is shown, draws.

import { json, post, Refusal } from "./api.js";
import { h, put } from "./dom.js";
import { Network } from "./network.js";
import { Panel } from "./panel.js";
import { Plots } from "./plots.js";
import { Series } from "./series.js";
import { Stage } from "./stage.js";
import { Timeline } from "./timeline.js";

/** Time between two looks at a cook that goes on, and at one that has ended, ms. */
const LIVE = 1000;
const STILL = 4000;

const at = (id) => document.getElementById(id);
const app = { cooks: [], readOnly: false, shown: [0], summaries: new Map(), series: new Map(), types: new Map(), frame: null, chosen: null, following: true };

const stage = new Stage(at("stage"));
const timeline = new Timeline(at("timeline"), (frame) => go(frame, true));
const plots = new Plots(at("plots"), (frame) => go(frame, true));
const network = new Network(at("network"), (name) => {
  app.chosen = app.chosen === name ? null : name;
  draw();
});
const panel = new Panel(at("panel"), { cooked: (id) => compareWith(id) });
timeline.ready = () => !stage.busy;

/** Shows a frame; `wanted` by the user, or because it is the newest. */
function go(frame, wanted) {
  const last = lastFrame();
  if (wanted) app.following = frame >= (last ?? frame);
  app.frame = frame;
  timeline.at(frame);
  plots.at(frame);
  stage.show(frame).then(() => timeline.playing && stage.ahead(frame + 1)).catch((error) => stage.say(error.message));
  panel.at(frame);
}

function compareWith(id) {
  app.shown = [app.shown[0], id];
  app.following = true;
  tick();
}

const marks = ["a", "b"];
const shown = () => app.shown.filter((id) => app.summaries.has(id));
const summaryOf = (i) => app.summaries.get(app.shown[i]);
const seriesOf = (id) => app.series.get(id) ?? app.series.set(id, new Series(id)).get(id);

/** The last frame that can be shown. */
function lastFrame() {
  const ends = shown().flatMap((id) => {
    const summary = app.summaries.get(id);
    const files = summary.files.filter((f) => f.wanted).flatMap((f) => f.frames.map((r) => r[1]));
    return files.length ? [Math.max(...files)] : summary.last_frame !== null ? [summary.last_frame] : [];
  });
  return ends.length ? Math.max(...ends) : null;
}

/** First and last frame of what is shown. */
function range() {
  const all = shown().flatMap((id) => {
    const summary = app.summaries.get(id);
    const wanted = summary.files.filter((f) => f.wanted).map((f) => f.wanted);
    return [summary.frames, ...wanted].filter(Boolean);
  });
  return all.length ? [Math.min(...all.map((r) => r[0])), Math.max(...all.map((r) => r[1]))] : [1, 1];
}

/** What stats.jsonl lists and can be drawn: by the reports that the node types declare. */
function rolesOf(key) {
  for (const type of app.types.values()) {
    for (const port of type.ports ?? []) {
      if (port.report?.key !== key) continue;
      const by = new Map(port.report.entries.map(([name, attribute]) => [attribute, name]));
      const [position, volume, colour] = ["P", "volume", "pressure"].map((attribute) => by.get(attribute));
      return position && volume ? { position, volume, colour } : null;
    }
  }
  return null;
}

function listsOf(series) {
  const names = new Set();
  for (const lists of series.lists.values()) for (const [name, entries] of lists) if (entries.length) names.add(name);
  return [...names].map((name) => ({ name, roles: rolesOf(name) })).filter((list) => list.roles);
}

/** The least and greatest value by which entries of a list are coloured, over all frames. */
function spanOf(series, { name, roles }) {
  let low = Infinity, high = -Infinity;
  for (const lists of series.lists.values()) {
    for (const entry of lists.get(name) ?? []) {
      const value = entry[roles.colour];
      if (typeof value === "number") [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  return low <= high ? [low, high] : [0, 0];
}

/** How a surface of a file is drawn: as the port says that is called like its grid. */
function drawnOf(layer, shape) {
  for (const type of app.types.values()) {
    for (const port of type.ports ?? []) {
      const isIt = shape.name === port.name || shape.name?.endsWith(`_${port.name}`);
      if (isIt && port.drawn) return port.drawn;
    }
  }
  return layer.kind === "vdb" ? "liquid" : "a solid";
}

function stageState(id, i) {
  const summary = app.summaries.get(id), series = seriesOf(id);
  const lists = listsOf(series).map((list) => ({ ...list, range: spanOf(series, list), unit: list.roles.colour === "pressure" ? "Pa" : "" }));
  const layers = summary.files.filter((f) => f.wanted && ["vdb", "geo"].includes(f.kind)).map((f) => ({
    node: f.node, pattern: f.pattern, kind: f.kind, frames: f.frames, name: f.pattern.split(".$F4")[0],
    label: f.pattern.split(".$F4")[0].replace(`${f.node}_`, "") || f.node,
  }));
  if (summary.plugins) layers.push({ kind: "scenery", frames: [range()], name: "scenery", label: "solids" });
  return {
    id, mark: marks[i], drawnOf, layers,
    listNames: lists.map((l) => l.name),
    lists: (frame) => lists.map((l) => ({ ...l, entries: series.lists.get(frame)?.get(l.name) ?? [] })),
  };
}

function panelState() {
  return { summary: summaryOf(0), other: summaryOf(1), types: app.types, chosen: app.chosen, readOnly: app.readOnly, frame: app.frame ?? 1 };
}

function header() {
  const cook = (i) => {
    const summary = summaryOf(i);
    const options = app.cooks.map((c) => h("option", { value: c.id, selected: c.id === app.shown[i] }, c.name));
    if (i === 1) options.unshift(h("option", { value: "" }, "compare with …"));
    const progress = summary?.state === "cooking" && summary.frames ? ` ${summary.last_frame ?? summary.frames[0]}/${range()[1]}` : "";
    return h("div", { class: "cook" }, app.shown.length > 1 && h("span", { class: `letter ${marks[i]}` }, marks[i].toUpperCase()),
      app.cooks.length > 1 ? h("select", { "data-slot": i, "aria-label": `Cook ${marks[i].toUpperCase()}` }, options) : h("span", { title: summary?.folder }, summary?.name),
      summary && h("span", { class: `state ${summary.state}`, title: summary.message ?? "" }, summary.state + progress),
      summary?.state === "cooking" && summary.begun_here && !app.readOnly && h("button", { "data-stop": summary.id }, "Stop"));
  };
  const slots = app.cooks.length > 1 ? [0, 1] : [0];
  put(at("header"), h("div", { class: "mark" }, h("img", { src: "icon.svg", alt: "" }), "Meniscus"), slots.map(cook),
    h("span", { class: "grow" }),
    h("small", null, app.readOnly ? "read only" : "whoever has this page's address can cook, with your plugins"));
}

at("header").addEventListener("change", (event) => {
  const slot = event.target.dataset.slot;
  if (slot === undefined) return;
  const id = event.target.value === "" ? null : Number(event.target.value);
  const next = [...app.shown];
  next[Number(slot)] = id;
  app.shown = next.filter((n, i, all) => n !== null && all.indexOf(n) === i);
  tick();
});
at("header").addEventListener("click", (event) => {
  const id = event.target.dataset?.stop;
  if (id !== undefined) post(`cooks/${id}/stop`, {}).then(tick, (error) => stage.say(error.message));
});

function draw() {
  const summary = summaryOf(0);
  if (!summary) return;
  header();
  document.title = `${summary.name} · ${summary.state} · Meniscus`;
  const ids = shown();
  network.draw(summary, seriesOf(ids[0]), app.types, app.chosen);
  const bars = ids.map((id, i) => ({ kind: `there ${marks[i]}`, ranges: cachedRanges(app.summaries.get(id)) }));
  timeline.set(range(), lastFrame(), bars);
  stage.set(ids.map(stageState));
  plots.draw(ids.map((id, i) => ({ series: seriesOf(id), mark: marks[i] })), range(), app.frame ?? range()[0]);
  panel.draw(panelState());
  const trouble = ids.map((id) => app.summaries.get(id)).find((s) => ["failed", "gone", "stopped"].includes(s.state));
  if (trouble) stage.say(`${trouble.name}: ${trouble.message ?? trouble.state}`, trouble.state === "stopped");
  else if (summary.state === "waiting") stage.say("Nothing is cooked yet: `meniscus cook` this graph, or change a parameter here.", true);
  else if (stage.renderer) stage.say(null);
}

/** Frames of which some cache is there; of which there are statistics, where nothing is cached. */
function cachedRanges(summary) {
  const files = summary.files.filter((f) => f.wanted && f.frames.length);
  const most = files.reduce((best, f) => (span(f) > span(best) ? f : best), files[0]);
  return most ? most.frames : summary.last_frame !== null && summary.frames ? [[summary.frames[0], summary.last_frame]] : [];
}

const span = (f) => f.frames.reduce((sum, [a, b]) => sum + b - a + 1, 0);

/** Asks for everything that is shown; what did not change is not drawn again. */
async function look() {
  const list = await json("cooks");
  let changed = list !== app.list;
  Object.assign(app, { list, cooks: list.cooks, readOnly: list.read_only });
  if (!app.begun) {
    app.begun = true;
    app.shown = list.cooks.slice(0, 2).map((c) => c.id);
  }
  for (const id of app.shown) {
    const summary = await json(`cooks/${id}`);
    const before = app.summaries.get(id);
    const series = seriesOf(id);
    series.fps = summary.fps || 24;
    const version = series.version, file = series.at.file;
    // A cook that has not begun has no statistics.
    await series.read().catch((error) => { if (error.status !== 404) throw error; });
    if (file !== null && file !== series.at.file) stage.forget(id);
    changed ||= summary !== before || series.version !== version;
    app.summaries.set(id, summary);
  }
  const key = app.shown.join();
  if (changed || key !== app.key || app.behind) {
    app.key = key;
    draw();
    const last = lastFrame();
    const live = shown().some((id) => app.summaries.get(id).state === "cooking");
    if (app.frame === null) go(live && last !== null ? last : openingFrame(), false);
    else if (app.following && last !== null && (live || app.behind)) {
      // A cook may be faster than its frames are read: one is shown before the newest is asked for.
      app.behind = stage.busy;
      if (!app.behind) go(last, false);
    }
    else stage.show(app.frame, key !== app.drawn).catch((error) => stage.say(error.message));
    app.drawn = key;
  }
}

/** A finished cook is shown in the middle of its action. */
function openingFrame() {
  const [first] = range(), last = lastFrame() ?? range()[1];
  return Math.round(first + 0.6 * (last - first));
}

let timer = null, looking = false;

async function tick() {
  if (looking) return void (app.again = true);
  clearTimeout(timer);
  looking = true;
  try {
    await look();
    notice(null);
  } catch (error) {
    notice(error);
  }
  looking = false;
  const live = shown().some((id) => app.summaries.get(id)?.state === "cooking");
  timer = setTimeout(tick, app.again ? 0 : document.hidden ? 4 * STILL : live ? LIVE : STILL);
  app.again = false;
}

function notice(error) {
  const box = at("notice");
  box.hidden = !error;
  if (!error) return;
  const lost = error instanceof Refusal && error.status === 401;
  put(box, h("div", null, h("h2", null, lost ? "This page needs its token" : "The server does not answer"),
    h("p", null, lost ? "Open the whole address that " : "Is ", h("code", null, "meniscus view"),
      lost ? " printed, with the part behind #." : " still running? This page goes on by itself when it is."),
    lost ? null : h("p", { class: "dim" }, error.message)));
}

document.addEventListener("visibilitychange", () => document.hidden || tick());
// Descriptors come once; what is shown without them has no labels, help and units.
json("types").then((types) => {
  types.forEach((type) => app.types.set(type.id, type));
  if (app.frame !== null) draw();
}, () => {});
tick();
