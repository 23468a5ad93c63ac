// Builds elements. Text is always text: nothing here is read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

/** An HTML element. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Replaces what is in an element, unless it says the same as before. */
export function put(element, ...children) {
  const fresh = document.createElement("div");
  fresh.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  if (fresh.childNodes.length === element.childNodes.length &&
      [...fresh.childNodes].every((node, i) => node.isEqualNode(element.childNodes[i]))) return;
  element.replaceChildren(...fresh.childNodes);
}

/** A number for people, with about so many digits. */
export function number(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) return x.toExponential(Math.max(digits - 2, 1)).replace("e+", "e");
  if (Number.isInteger(x)) return String(x);
  return String(Number(x.toPrecision(digits)));
}

/** Seconds for people. */
export function seconds(t) {
  if (t >= 90) return `${Math.floor(t / 60)} min ${Math.round(t % 60)} s`;
  if (t >= 1) return `${number(t, 3)} s`;
  if (t >= 1e-3) return `${number(t * 1e3, 3)} ms`;
  return `${number(t * 1e6, 3)} µs`;
}
