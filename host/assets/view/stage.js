// The 3D view: one or two cooks side by side, seen by one camera at one frame.

import * as THREE from "./three/three.module.min.js";
import { bytes, part } from "./api.js";
import { Orbit } from "./camera.js";
import { h, number, put } from "./dom.js";
import { balls, dispose, drawable, rampCss, unpack } from "./shapes.js";

/** Most bytes of shapes that are kept in the page. */
const KEPT = 256 << 20;

/** A frame's file by the name that has `$F4` in it. */
export function fileName(pattern, frame) {
  const digits = String(Math.abs(frame)).padStart(4, "0");
  return pattern.replace("$F4", (frame < 0 ? "-" : "") + digits);
}

const has = (ranges, frame) => ranges.some(([a, b]) => a <= frame && frame <= b);

export class Stage {
  constructor(element) {
    this.element = element;
    this.canvas = h("canvas");
    this.chips = h("div", { class: "layers" });
    this.legend = h("div", { class: "legend", hidden: true });
    this.notes = { a: h("div", { class: "overlay a" }), b: h("div", { class: "overlay b" }) };
    this.divider = h("div", { class: "divider", hidden: true });
    this.banner = h("div", { class: "banner", hidden: true });
    element.append(this.canvas, this.chips, this.legend, this.notes.a, this.notes.b, this.divider, this.banner);
    this.slots = [];
    this.hidden = new Set();
    this.judged = new Set();
    this.cache = new Map();
    this.bytes = 0;
    this.frame = this.drawn = null;
    this.busy = false;
    this.orbit = new Orbit(this.canvas, () => this.render());
    try {
      this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true });
      this.renderer.setScissorTest(true);
      this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
      this.light = this.lighting();
    } catch {
      this.say("This browser shows no 3D: WebGL is off. Everything else works.");
    }
    new ResizeObserver(() => this.render()).observe(element);
    this.canvas.addEventListener("dblclick", () => this.reframe());
  }

  say(text, quiet = false) {
    this.banner.hidden = !text;
    this.banner.classList.toggle("quiet", quiet);
    put(this.banner, text ?? "");
  }

  /** What shines on things: a bright sky, a dark floor, two lamps. */
  lighting() {
    const room = new THREE.Scene();
    const panel = (colour, strength, place, size) => {
      const material = new THREE.MeshBasicMaterial({ color: new THREE.Color(colour).multiplyScalar(strength), side: THREE.DoubleSide });
      const mesh = new THREE.Mesh(new THREE.PlaneGeometry(...size), material);
      mesh.position.set(...place);
      mesh.lookAt(0, 0, 0);
      room.add(mesh);
    };
    room.background = new THREE.Color("#1d2733");
    panel("#ffffff", 5, [0, 6, 0.01], [8, 8]);
    panel("#bcd8ff", 3, [-7, 2, 2], [5, 7]);
    panel("#ffe6c8", 2.2, [6, 2, 5], [4, 6]);
    panel("#8fb4e0", 1.2, [0, 1, -8], [14, 6]);
    const maker = new THREE.PMREMGenerator(this.renderer);
    const texture = maker.fromScene(room, 0.03).texture;
    maker.dispose();
    return texture;
  }

  scene() {
    const scene = new THREE.Scene();
    scene.background = new THREE.Color("#0e141b");
    scene.environment = this.light ?? null;
    scene.environmentIntensity = 0.8;
    const key = new THREE.DirectionalLight("#ffffff", 1.4);
    key.position.set(2, 4, 3);
    scene.add(key);
    return scene;
  }

  /** Shows these cooks: `{id, mark, layers, lists, roles, range}`. */
  set(cooks) {
    const same = cooks.length === this.slots.length && cooks.every((c, i) => c.id === this.slots[i].id);
    if (!same) {
      this.slots.forEach((slot) => this.clear(slot));
      this.slots = cooks.map(() => ({ scene: this.scene(), objects: [] }));
      this.framed = false;
      this.frame = this.drawn = null;
      delete this.element.dataset.drawn;
    }
    cooks.forEach((cook, i) => Object.assign(this.slots[i], cook));
    this.divider.hidden = cooks.length < 2;
    this.drawChips();
  }

  clear(slot) {
    slot.objects.forEach((object) => {
      slot.scene.remove(object);
      dispose(object);
    });
    slot.objects = [];
  }

  drawChips() {
    const labels = new Map(this.slots.flatMap((slot) => [
      ...slot.layers.map((l) => [l.name, l.label]), ...slot.listNames.map((name) => [name, `${name} as balls`]),
    ]));
    put(this.chips, [...labels].map(([name, label]) =>
      h("button", { "data-layer": name, "aria-pressed": String(!this.hidden.has(name)), title: name }, label)));
    this.chips.onclick = (event) => {
      const name = event.target.dataset?.layer;
      if (!name) return;
      this.judged.add(name);
      if (!this.hidden.delete(name)) this.hidden.add(name);
      this.drawChips();
      this.show(this.frame, true);
    };
  }

  /** Shows a frame; the last one asked for wins. */
  async show(frame, again = false) {
    if (frame === null || (frame === this.frame && !again)) return;
    this.frame = frame;
    this.wanted?.abort();
    const wanted = (this.wanted = new AbortController());
    this.busy = true;
    try {
      const made = await Promise.all(this.slots.map((slot) => this.load(slot, frame, wanted.signal)));
      if (wanted.signal.aborted) return;
      made.forEach((shapes, i) => this.put(this.slots[i], shapes, frame));
      this.drawn = frame;
      if (!this.framed) this.reframe();
      this.render();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    } finally {
      if (this.wanted === wanted) this.busy = false;
    }
  }

  /** Reads a frame that is shown soon. */
  async ahead(frame) {
    const { signal } = this.wanted;
    // What cannot be read is told when it is shown.
    await Promise.allSettled(this.slots.map((slot) => this.load(slot, frame, signal)));
  }

  /** The shapes of a cook at a frame: pairs of layer and shapes, and what is wrong. */
  async load(slot, frame, signal) {
    const layers = slot.layers.filter((l) => !this.hidden.has(l.name) && has(l.frames, frame));
    const trouble = [];
    const pairs = await Promise.all(layers.map(async (layer) => {
      try {
        return [layer, await this.shapes(slot.id, layer, frame, signal)];
      } catch (error) {
        if (error.name === "AbortError") throw error;
        // The graph's files may be elsewhere: the water is shown all the same.
        if (layer.kind !== "scenery") trouble.push(`${layer.name}: ${error.message}`);
        return [layer, []];
      }
    }));
    return { pairs: this.judge(pairs), trouble, missing: slot.layers.length > 0 && !layers.some((l) => l.kind !== "scenery") };
  }

  /** Points are hidden at first where there is something better to see. */
  judge(pairs) {
    const isCloud = ([, shapes]) => shapes.length > 0 && shapes.every((s) => s.kind === "points");
    const better = pairs.some((pair) => pair[0].kind !== "scenery" && pair[1].length && !isCloud(pair));
    for (const pair of pairs) {
      const name = pair[0].name;
      if (this.judged.has(name) || !pair[1].length) continue;
      this.judged.add(name);
      if (better && isCloud(pair)) this.hidden.add(name);
    }
    this.drawChips();
    return pairs.filter(([layer]) => !this.hidden.has(layer.name));
  }

  async shapes(cook, layer, frame, signal) {
    const still = `cooks/${cook}/scenery`;
    const isScenery = layer.kind === "scenery";
    const path = isScenery ? `${still}/${frame}` : `cooks/${cook}/shapes/${part(layer.node)}/${part(fileName(layer.pattern, frame))}`;
    const found = this.cache.get(path) ?? (isScenery && this.cache.get(still));
    if (found) {
      if (this.cache.delete(path)) this.cache.set(path, found);
      return found.shapes;
    }
    const buffer = await bytes(path, signal);
    const shapes = unpack(buffer);
    // What does not move is the same at every frame.
    const key = isScenery && !shapes.some((s) => s.moves) ? still : path;
    this.cache.set(key, { shapes, size: buffer.byteLength });
    this.bytes += buffer.byteLength;
    for (const [old, { size }] of this.cache) {
      if (this.bytes <= KEPT || old === key) break;
      this.cache.delete(old);
      this.bytes -= size;
    }
    return shapes;
  }

  /** Forgets a cook's shapes: it was cooked anew. */
  forget(cook) {
    for (const [key, { size }] of this.cache) {
      if (!key.startsWith(`cooks/${cook}/`)) continue;
      this.cache.delete(key);
      this.bytes -= size;
    }
  }

  put(slot, { pairs, trouble, missing }, frame) {
    this.clear(slot);
    const told = [];
    let triangles = 0, points = 0, fastest = 0;
    const add = (object) => {
      slot.objects.push(object);
      slot.scene.add(object);
    };
    for (const [layer, shapes] of pairs) {
      for (const shape of shapes) {
        const drawn = slot.drawnOf(layer, shape);
        const object = drawable(shape, { ...layer, drawn, pointSize: this.orbit.size * 0.004 });
        if (layer.kind !== "scenery") triangles += (shape.triangles?.length ?? 0) / 3;
        if (shape.kind === "points") points += shape.total;
        fastest = Math.max(fastest, object.userData.fastest ?? 0);
        if (shape.step > 1) told.push(`${layer.name}: every ${shape.step}${shape.kind === "triangles" ? ". voxel" : ". point"}`);
        add(object);
      }
    }
    const lists = slot.lists(frame).filter((l) => !this.hidden.has(l.name));
    for (const list of lists) add(balls(list.entries, list.roles, list.range));
    Object.assign(slot, { drawnLists: lists, fastest });
    this.drawLegend();
    if (triangles) told.unshift(`${triangles.toLocaleString("en")} triangles`);
    if (points) told.unshift(`${points.toLocaleString("en")} points`);
    if (missing) told.push(`no cache of frame ${frame}`);
    if (!slot.layers.some((l) => l.kind !== "scenery")) told.push("this cook writes no caches that are drawn");
    put(this.notes[slot.mark], h("div", null, told.join(" · ")), trouble.map((t) => h("div", { class: "trouble" }, t)));
  }

  drawLegend() {
    const lists = this.slots.flatMap((slot) => slot.drawnLists ?? []);
    const fastest = Math.max(0, ...this.slots.map((slot) => slot.fastest ?? 0));
    const ramp = (title, low, high) => [h("div", null, title), h("div", { class: "ramp", style: { background: rampCss } }),
      h("div", { class: "ends" }, h("span", null, low), h("span", null, high))];
    const parts = lists.filter((l) => l.entries.length && l.roles.colour)
      .flatMap((l) => ramp(`${l.name}: ${l.roles.colour}${l.unit ? `, ${l.unit}` : ""}`, number(l.range[0], 4), number(l.range[1], 4)));
    if (fastest) parts.push(...ramp("speed, m/s", "0", number(fastest, 3)));
    this.legend.hidden = !parts.length;
    put(this.legend, parts);
  }

  /** Stands where everything that is drawn is seen. */
  reframe() {
    const box = new THREE.Box3();
    for (const slot of this.slots) for (const object of slot.objects) box.expandByObject(object);
    if (box.isEmpty()) return;
    this.framed = true;
    this.slots.forEach((slot) => this.floor(slot, box));
    this.orbit.frame(box, this.aspect());
  }

  /** A grid under what is drawn. */
  floor(slot, box) {
    if (slot.grid) slot.scene.remove(slot.grid);
    const size = box.getSize(new THREE.Vector3()).length();
    const cell = 10 ** Math.floor(Math.log10(size / 3));
    const cells = Math.ceil((2 * size) / cell / 2) * 2;
    slot.grid = new THREE.GridHelper(cells * cell, cells, "#2c3947", "#1b2530");
    const middle = box.getCenter(new THREE.Vector3());
    const snap = (v) => Math.round(v / cell) * cell;
    slot.grid.position.set(snap(middle.x), box.min.y - 0.002 * size, snap(middle.z));
    slot.scene.add(slot.grid);
  }

  aspect() {
    const { clientWidth, clientHeight } = this.element;
    return clientWidth / Math.max(this.slots.length, 1) / Math.max(clientHeight, 1);
  }

  render() {
    if (!this.renderer || this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = null;
      const { clientWidth: width, clientHeight: height } = this.element;
      if (!width || !height) return;
      const ratio = Math.min(devicePixelRatio, 2);
      this.renderer.setPixelRatio(ratio);
      const size = this.renderer.getSize(new THREE.Vector2());
      if (size.x !== width || size.y !== height) this.renderer.setSize(width, height, false);
      const camera = this.orbit.camera;
      camera.aspect = this.aspect();
      camera.updateProjectionMatrix();
      const share = width / Math.max(this.slots.length, 1);
      this.slots.forEach((slot, i) => {
        this.renderer.setViewport(i * share, 0, share, height);
        this.renderer.setScissor(i * share, 0, share, height);
        this.renderer.render(slot.scene, camera);
      });
      if (this.drawn !== null) this.element.dataset.drawn = String(this.drawn);
    });
  }
}
