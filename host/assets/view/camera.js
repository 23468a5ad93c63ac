// The user's camera: around a point, nearer, farther, and aside.

import { PerspectiveCamera, Vector3 } from "./three/three.module.min.js";

export class Orbit {
  constructor(element, changed) {
    this.camera = new PerspectiveCamera(32, 1, 0.001, 100);
    this.target = new Vector3();
    this.turn = 0.5;
    this.lift = 0.22;
    this.distance = 2;
    this.size = 1;
    this.changed = changed;
    element.addEventListener("pointerdown", (event) => element.setPointerCapture(event.pointerId));
    element.addEventListener("pointermove", (event) => event.buttons && this.drag(event, element));
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.distance *= Math.exp(Math.min(Math.max(event.deltaY, -200), 200) * 0.002);
      this.place();
    }, { passive: false });
  }

  drag(event, element) {
    const scale = 1 / Math.max(element.clientHeight, 1);
    if (event.buttons === 1 && !event.shiftKey) {
      this.turn -= event.movementX * scale * 4;
      this.lift = Math.min(Math.max(this.lift + event.movementY * scale * 4, -1.5), 1.5);
    } else {
      const right = new Vector3().setFromMatrixColumn(this.camera.matrix, 0);
      const up = new Vector3().setFromMatrixColumn(this.camera.matrix, 1);
      const reach = 2 * this.distance * Math.tan((this.camera.fov * Math.PI) / 360) * scale;
      this.target.addScaledVector(right, -event.movementX * reach).addScaledVector(up, event.movementY * reach);
    }
    this.place();
  }

  /** Sees a whole box, in a picture of that aspect. */
  frame(box, aspect) {
    box.getCenter(this.target);
    this.size = Math.max(box.getSize(new Vector3()).length(), 1e-6);
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    this.distance = (0.56 * this.size) / Math.min(half, half * aspect);
    this.place();
  }

  place() {
    const { turn, lift, distance } = this;
    const back = new Vector3(Math.cos(lift) * Math.sin(turn), Math.sin(lift), Math.cos(lift) * Math.cos(turn));
    this.camera.position.copy(this.target).addScaledVector(back, distance);
    this.camera.lookAt(this.target);
    this.camera.near = Math.max(distance / 500, this.size / 1e5);
    this.camera.far = distance + 20 * this.size;
    this.camera.updateMatrixWorld();
    this.changed();
  }
}
