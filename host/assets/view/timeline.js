// The timeline: which frames are there, which one is shown, and playing.

import { h, put, s } from "./dom.js";

export class Timeline {
  constructor(element, go) {
    this.go = go;
    this.range = [1, 1];
    this.frame = 1;
    this.playing = false;
    this.ready = () => true;
    this.button = h("button", { class: "play", title: "Play (space)", "aria-label": "Play", onclick: () => this.play(!this.playing) }, "▶");
    this.svg = s("svg", { role: "slider", tabindex: 0, "aria-label": "Frame" });
    this.told = h("span", { class: "frame number" });
    element.append(this.button, this.svg, this.told);
    const seek = (event) => {
      const box = this.svg.getBoundingClientRect();
      const part = (event.clientX - box.left) / Math.max(box.width, 1);
      this.show(Math.round(this.range[0] + part * (this.range[1] - this.range[0])));
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.play(false);
      seek(event);
    });
    this.svg.addEventListener("pointermove", (event) => event.buttons && seek(event));
    document.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.svg);
    setInterval(() => this.step(), 1000 / 24);
  }

  key(event) {
    if (event.target.closest?.("input, select, textarea")) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    if (event.key in steps) this.show(this.frame + steps[event.key]);
    else if (event.key === "Home") this.show(this.range[0]);
    else if (event.key === "End") this.show(this.range[1]);
    else if (event.key === " " && !event.target.closest?.("button, .node")) this.play(!this.playing);
    else return;
    event.preventDefault();
  }

  /** Shows a frame because the user wants it. */
  show(frame) {
    const bounded = Math.min(Math.max(frame, this.range[0]), this.range[1]);
    this.go(bounded);
  }

  play(on) {
    this.playing = on;
    this.button.textContent = on ? "❚❚" : "▶";
  }

  /** The next frame while it plays, as soon as this one is drawn; from the last one that is there to the first. */
  step() {
    if (!this.playing || !this.ready()) return;
    const end = this.last ?? this.range[1];
    this.go(this.frame >= end ? this.range[0] : this.frame + 1);
  }

  /** What there is: the range of frames, the last one there, and bars `{ranges, kind}`. */
  set(range, last, bars) {
    this.range = range;
    this.last = last;
    this.bars = bars;
    this.draw();
  }

  at(frame) {
    this.frame = frame;
    this.draw();
  }

  draw() {
    const width = this.svg.clientWidth || 600;
    const [a, b] = this.range;
    const span = Math.max(b - a, 1);
    const x = (frame) => 6 + ((frame - a) / span) * (width - 12);
    const half = (width - 12) / span / 2;
    const parts = [s("rect", { class: "track", x: 6 - half, y: 6, width: width - 12 + 2 * half, height: 12, rx: 3 })];
    (this.bars ?? []).forEach(({ ranges, kind }, i, all) => {
      const height = 12 / all.length;
      for (const [from, to] of ranges) {
        const left = Math.max(x(from) - half, 0), right = Math.min(x(to) + half, width);
        parts.push(s("rect", { class: kind, x: left, y: 6 + i * height, width: Math.max(right - left, 1), height, rx: 2 }));
      }
    });
    const every = tick(span / Math.max(width / 70, 1));
    for (let f = Math.ceil(a / every) * every; f <= b; f += every) {
      parts.push(s("line", { class: "tick", x1: x(f), x2: x(f), y1: 18, y2: 22 }));
      parts.push(s("text", { class: "tick-name", x: Math.min(Math.max(x(f), 10), width - 10), y: 32 }, String(f)));
    }
    parts.push(s("line", { class: "cursor", x1: x(this.frame), x2: x(this.frame), y1: 2, y2: 23 }));
    parts.push(s("circle", { class: "cursor-head", cx: x(this.frame), cy: 4, r: 4 }));
    put(this.svg, ...parts);
    this.svg.setAttribute("aria-valuenow", this.frame);
    this.svg.setAttribute("aria-valuemin", a);
    this.svg.setAttribute("aria-valuemax", b);
    put(this.told, `frame ${this.frame}`);
  }
}

/** A round number that is at least this one. */
export function tick(least) {
  const size = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((n) => n * size).find((n) => n >= least) ?? 10 * size;
}
