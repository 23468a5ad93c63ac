// Shapes from the server, and how they are drawn.

import * as THREE from "./three/three.module.min.js";

/** Reads what `packed.rs` writes: the description, whose arrays become typed arrays. */
export function unpack(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < 12 || view.getUint32(0, false) !== 0x4d4e5356 || view.getUint32(4, true) !== 1) {
    throw new Error("these are no shapes");
  }
  const length = view.getUint32(8, true);
  const description = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 12, length)));
  const begin = 12 + length;
  for (const shape of description.shapes) {
    for (const [key, value] of Object.entries(shape)) {
      if (value && typeof value === "object" && "at" in value) {
        const type = key === "triangles" ? Uint32Array : Float32Array;
        shape[key] = new type(buffer, begin + value.at, value.count);
      }
    }
  }
  if (description.error) throw new Error(description.error);
  return description.shapes;
}

/** Colours from low to high, 0..1. */
const RAMP = [[0.17, 0.25, 0.6], [0.15, 0.56, 0.72], [0.35, 0.78, 0.5], [0.97, 0.85, 0.35], [0.95, 0.4, 0.25]];

export function ramp(t, colour) {
  const at = Math.min(Math.max(t, 0), 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(at), RAMP.length - 2);
  const mix = (c) => RAMP[i][c] + (at - i) * (RAMP[i + 1][c] - RAMP[i][c]);
  return colour.setRGB(mix(0), mix(1), mix(2), THREE.SRGBColorSpace);
}

export const rampCss = `linear-gradient(90deg, ${RAMP.map((c) => `rgb(${c.map((v) => Math.round(255 * v)).join(" ")})`).join(", ")})`;

const SOLIDS = ["#c9b48f", "#a9b9c9", "#d08a6a", "#8fb89a", "#b79cc9", "#c9c28f", "#8aa6d0", "#d09aa6"];

/** A colour that stays with a name. */
function colourOf(name) {
  let sum = 7;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) >>> 0;
  return SOLIDS[sum % SOLIDS.length];
}

/** A drawable of a shape; `layer` says what is known of its file. */
export function drawable(shape, layer) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(shape.positions, 3));
  if (shape.kind === "triangles") {
    geometry.setIndex(new THREE.BufferAttribute(shape.triangles, 1));
    if (layer.kind === "scenery") return glass(geometry);
    return layer.drawn === "liquid" ? liquid(geometry) : solid(geometry, layer.name + (shape.name ?? ""));
  }
  return points(geometry, shape, layer);
}

function liquid(geometry) {
  geometry.computeVertexNormals();
  const material = new THREE.MeshPhysicalMaterial({
    color: "#3d97e8", roughness: 0.08, metalness: 0, transparent: true, opacity: 0.62, side: THREE.DoubleSide,
    envMapIntensity: 1.3, depthWrite: false, specularIntensity: 1,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.renderOrder = 2;
  return mesh;
}

/** Solids that stand around what moves: clear where one looks straight at them, brighter towards their edges. */
function glass(geometry) {
  geometry.computeVertexNormals();
  const material = new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, side: THREE.DoubleSide,
    vertexShader: `varying vec3 n; varying vec3 v;
      void main() {
        vec4 p = modelViewMatrix * vec4(position, 1.0);
        n = normalMatrix * normal; v = -p.xyz; gl_Position = projectionMatrix * p;
      }`,
    fragmentShader: `varying vec3 n; varying vec3 v;
      void main() {
        float edge = 1.0 - abs(dot(normalize(n), normalize(v)));
        gl_FragColor = vec4(0.72, 0.82, 0.92, 0.025 + 0.3 * pow(edge, 2.5));
      }`,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.renderOrder = 3;
  return mesh;
}

function solid(geometry, name) {
  // Corners stay corners: triangles of a body share their points.
  const flat = new THREE.MeshStandardMaterial({
    color: colourOf(name), roughness: 0.7, metalness: 0, flatShading: true, side: THREE.DoubleSide,
  });
  return new THREE.Mesh(geometry, flat);
}

function points(geometry, shape, layer) {
  const count = shape.positions.length / 3;
  let fastest = 0;
  if (shape.speed) {
    for (const v of shape.speed) fastest = Math.max(fastest, v);
    const colours = new Float32Array(3 * count), colour = new THREE.Color();
    for (let i = 0; i < count; i += 1) {
      ramp(shape.speed[i] / (fastest || 1), colour).toArray(colours, 3 * i);
    }
    geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  }
  const radius = shape.radius?.length ? shape.radius[0] : 0;
  const material = new THREE.PointsMaterial({
    size: radius > 0 ? 2 * radius : layer.pointSize, vertexColors: Boolean(shape.speed), sizeAttenuation: true,
    color: shape.speed ? "#ffffff" : "#e8edf3",
  });
  const cloud = new THREE.Points(geometry, material);
  cloud.userData.fastest = fastest;
  cloud.renderOrder = 1;
  return cloud;
}

/** Balls of a list's entries, as large as their volumes, coloured by a number of theirs. */
export function balls(entries, roles, range) {
  const mesh = new THREE.InstancedMesh(
    new THREE.SphereGeometry(1, 20, 14),
    new THREE.MeshStandardMaterial({ roughness: 0.35, metalness: 0, transparent: true, opacity: 0.45, depthWrite: false }),
    Math.max(entries.length, 1),
  );
  const matrix = new THREE.Matrix4(), colour = new THREE.Color();
  let count = 0;
  for (const entry of entries) {
    const place = entry[roles.position], volume = entry[roles.volume];
    if (!Array.isArray(place) || !(volume > 0)) continue;
    const radius = Math.cbrt((3 * volume) / (4 * Math.PI));
    mesh.setMatrixAt(count, matrix.makeScale(radius, radius, radius).setPosition(...place));
    const [low, high] = range;
    mesh.setColorAt(count, ramp(high > low ? (entry[roles.colour] - low) / (high - low) : 0.5, colour));
    count += 1;
  }
  mesh.count = count;
  mesh.renderOrder = 1;
  return mesh;
}

export function dispose(object) {
  object.geometry?.dispose();
  object.material?.dispose();
  object.dispose?.();
}
