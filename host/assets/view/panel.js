// The parameters of a node, with help and units; or what is known of the cook, where no node is chosen.

import { part, picture, post } from "./api.js";
import { h, put } from "./dom.js";
import { typeOf } from "./network.js";
import { fileName } from "./stage.js";

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Whether a condition in Houdini's notation holds: `{ a == x b != y } { c == 0 }`. */
export function holds(condition, value) {
  return condition.split("{").slice(1).some((clause) => {
    const words = clause.split("}")[0].trim().split(/\s+/).filter(Boolean);
    if (!words.length || words.length % 3) return false;
    for (let i = 0; i < words.length; i += 3) {
      const given = value(words[i]);
      if (given === undefined) return false;
      const is = String(given === true ? 1 : given === false ? 0 : given) === words[i + 2].replaceAll('"', "");
      if (is !== (words[i + 1] === "==")) return false;
    }
    return true;
  });
}

export class Panel {
  constructor(element, { cooked }) {
    this.element = element;
    this.cooked = cooked;
    this.changes = new Map();
    this.fork = null;
    this.body = h("div");
    this.foot = h("div", { class: "foot", hidden: true });
    this.answer = h("div");
    element.append(this.body, this.foot);
  }

  /** What to show: the cook's summary, the other one's, node types, the chosen node's name, the frame. */
  draw(state) {
    const key = [state.summary?.id, state.chosen].join(" ");
    const moved = key !== this.key || state.readOnly !== this.state?.readOnly;
    if (this.state && this.state.summary?.id !== state.summary?.id) {
      this.changes.clear();
      this.forget();
    }
    this.state = state;
    const node = state.summary?.nodes.find((n) => n.name === state.chosen);
    // A field that is being typed in stays as it is.
    if (node && !moved && this.body.contains(document.activeElement)) return;
    this.key = key;
    if (node) this.node(node);
    else this.cook();
    this.drawFoot();
  }

  /** Another frame: only a picture follows it. */
  at(frame) {
    if (!this.state) return;
    this.state.frame = frame;
    const { summary, chosen } = this.state;
    if (summary?.files.some((f) => f.node === chosen && f.kind === "png" && f.wanted)) this.draw(this.state);
  }

  node(node) {
    const { types, summary, other } = this.state;
    const type = typeOf(types, node);
    const twin = other?.nodes.find((n) => n.name === node.name);
    const parts = [
      h("h2", null, node.name, " ", h("small", null, type?.label ?? node.type)),
      h("div", { class: "about" }, type?.help ?? "", type?.plugin ? h("small", null, ` Plugin ${type.plugin}.`) : null),
      this.pictures(node, summary),
    ];
    let folder = "";
    const bypass = { name: "bypass", label: "Bypass", kind: "toggle", default: false, help: "Passes its input through.", folder: "" };
    for (const spec of [...(type?.params ?? []), bypass]) {
      if ((spec.folder ?? "") !== folder) {
        folder = spec.folder ?? "";
        if (folder) parts.push(h("h3", null, folder));
      }
      parts.push(this.param(node, spec, twin));
    }
    put(this.body, parts);
  }

  value(node, spec) {
    if (spec.name === "bypass") return node.bypass ?? false;
    return node.params?.[spec.name] ?? spec.default;
  }

  param(node, spec, twin) {
    const key = `${node.name}.${spec.name}`;
    const now = this.value(node, spec);
    const shown = this.changes.has(key) ? this.changes.get(key) : now;
    const of = (name) => {
      const specs = typeOf(this.state.types, node)?.params ?? [];
      const other = specs.find((p) => p.name === name);
      const value = this.changes.get(`${node.name}.${name}`) ?? (other && this.value(node, other));
      return Array.isArray(value) && typeof value[0] === "number" ? value[0] : value;
    };
    const classes = ["param"];
    if (node.given && spec.name in node.given) classes.push("given");
    if (this.changes.has(key)) classes.push("changed");
    if (spec.disable_when && holds(spec.disable_when, of)) classes.push("idle");
    const differs = twin && !same(this.value(twin, spec), now);
    const id = `param-${key}`;
    return h("div", { class: classes.join(" "), "data-param": key },
      h("label", { for: id, title: `${spec.name}${spec.houdini_name ? `; Houdini: ${spec.houdini_name}` : ""}` }, spec.label),
      h("div", { class: "field" }, this.field(id, key, spec, shown, now), spec.unit ? h("span", { class: "unit" }, spec.unit) : null),
      differs ? h("div", { class: "was" }, `B: ${text(this.value(twin, spec))}`) : null,
      spec.help ? h("div", { class: "help" }, spec.help) : null);
  }

  field(id, key, spec, shown, now) {
    const disabled = this.state.readOnly;
    const change = (value) => {
      if (same(value, now)) this.changes.delete(key);
      else this.changes.set(key, value);
      this.refresh(key);
      this.check();
    };
    if (spec.kind === "toggle" && typeof shown === "boolean") {
      return h("input", { id, type: "checkbox", checked: shown, disabled, onchange: (e) => change(e.target.checked) });
    }
    if (spec.kind === "menu" && typeof shown === "string") {
      const options = spec.menu.map((m) => h("option", { value: m.token, selected: m.token === shown }, m.label));
      return h("select", { id, disabled, onchange: (e) => change(e.target.value) }, options);
    }
    const plain = spec.kind === "text" || spec.kind === "file";
    const read = (written) => {
      if (plain && typeof now === "string") return written;
      try {
        return JSON.parse(written);
      } catch {
        // An expression, as graphs may have.
        return written;
      }
    };
    return h("input", {
      id, type: "text", class: plain ? "" : "number", value: text(shown), disabled, spellcheck: "false", autocomplete: "off",
      onchange: (e) => change(read(e.target.value.trim())),
    });
  }

  refresh(key) {
    for (const element of this.body.querySelectorAll("[data-param]")) {
      if (element.dataset.param === key) element.classList.toggle("changed", this.changes.has(key));
    }
    this.drawFoot();
  }

  /** The picture that an output wrote of this frame. */
  pictures(node, summary) {
    const files = summary.files.find((f) => f.node === node.name && f.kind === "png" && f.wanted);
    if (!files?.frames.some(([a, b]) => a <= this.state.frame && this.state.frame <= b)) return null;
    const image = h("img", { class: "picture", alt: `Frame ${this.state.frame}` });
    const path = `cooks/${summary.id}/files/${part(node.name)}/${part(fileName(files.pattern, this.state.frame))}`;
    picture(path).then((address) => {
      image.onload = () => URL.revokeObjectURL(address);
      image.src = address;
    }, () => image.remove());
    return image;
  }

  cook() {
    const { summary } = this.state;
    if (!summary) return put(this.body);
    const facts = [
      ["Folder", summary.folder], ["Graph", summary.graph_file], ["Quality", summary.quality],
      ["Set", (summary.set ?? []).join("\n")], ["Frames", summary.frames?.join(" to ")], ["Rate", summary.fps && `${summary.fps} fps`],
      ["Changed from", summary.parent?.folder],
      ["Forked after", summary.parent?.fork_frame !== undefined ? `frame ${summary.parent.fork_frame}` : null], ["Note", summary.parent?.note],
      ["Checkpoint", summary.checkpoint !== null ? `frame ${summary.checkpoint}` : null],
      ["Cooked by", summary.cooked_by],
      ["Plugins", (summary.plugins ?? []).map((p) => `${p.name} ${p.version}`).join(", ")], ["Meniscus", summary.meniscus],
    ].filter(([, value]) => value);
    put(this.body, h("h2", null, summary.name),
      summary.message ? h("div", { class: `about ${summary.state}` }, summary.message) : null,
      h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", null, name), h("dd", null, String(value))])),
      summary.said?.length ? [h("h3", null, "Messages"), h("pre", { class: "said" }, summary.said.join("\n"))] : null,
      h("div", { class: "about" }, "Choose a node to see its parameters."));
  }

  drawFoot() {
    const { readOnly, summary } = this.state;
    this.foot.hidden = !this.changes.size || readOnly;
    if (this.foot.hidden) return;
    // Where it goes on from: the cook's first frame, or one that has a checkpoint and more frames after it.
    const after = summary.forks.filter((frame) => frame < (summary.frames?.[1] ?? frame));
    if (!after.includes(this.fork)) this.fork = null;
    const options = [null, ...after].map((frame) => h("option", { value: frame ?? "", selected: frame === this.fork },
      frame === null ? "the first frame" : `the end of frame ${frame}`));
    const list = [...this.changes].map(([key, value]) => h("li", null, `${key} = ${text(value)}`));
    put(this.foot, h("ul", null, list),
      h("div", { class: "row" },
        h("button", { class: "main", "data-do": "cook" }, "Cook the change"),
        h("button", { "data-do": "forget" }, "Forget it")),
      h("label", { class: "row" }, "From", h("select", { "data-do": "fork" }, options)),
      h("small", null, this.fork === null ? "Into a new folder; this cook stays as it is. It runs on the server's machine, with its plugins."
        : "Into a new folder with the frames until then; only what takes keyframes may differ. Such a cook is not reproducible from frame 1, unless keys differ only after that frame."),
      this.answer);
    this.drawAnswer();
    this.foot.onchange = (event) => {
      this.fork = event.target.value === "" ? null : Number(event.target.value);
      this.check();
    };
    this.foot.onclick = (event) => {
      const what = event.target.dataset?.do;
      if (what === "forget") {
        this.changes.clear();
        this.forget();
        this.key = null;
        this.draw(this.state);
      } else if (what === "cook") this.begin(summary.id);
    };
  }

  /** Asks what the changes would cost, or what is wrong with them. Only the answer to the last question counts. */
  async check() {
    const turn = this.forget();
    this.drawFoot();
    const { summary, readOnly } = this.state;
    if (readOnly || !this.changes.size) return;
    let [expected, refused] = ["", ""];
    try {
      const { said = "", wrong = "" } = await post(`cooks/${summary.id}/check`, { set: Object.fromEntries(this.changes) });
      refused = wrong;
      // What a fork costs, nobody knows before.
      const told = this.fork === null ? /^(time|memory|disk|advice|warning):/ : /^(advice|warning):/;
      expected = said.split("\n").filter((line) => told.test(line)).join("\n");
    } catch (error) {
      refused = error.message;
    }
    if (turn !== this.turn) return;
    [this.expected, this.refused] = [expected, refused];
    this.drawAnswer();
  }

  /** Forgets what was said of changes, and whoever was asked. */
  forget() {
    this.refused = this.expected = null;
    this.turn = (this.turn ?? 0) + 1;
    return this.turn;
  }

  /** What was said of the changes, in its own place: the buttons beside it stay. */
  drawAnswer() {
    put(this.answer, this.refused ? h("p", { class: "sentence" }, this.refused)
      : this.expected ? h("small", { class: "expected" }, this.expected) : null);
  }

  async begin(cook) {
    this.forget();
    try {
      const { id } = await post(`cooks/${cook}/change`, { set: Object.fromEntries(this.changes), fork: this.fork });
      this.changes.clear();
      this.forget();
      this.cooked(id);
    } catch (error) {
      this.refused = error.message;
    }
    this.drawFoot();
  }
}
