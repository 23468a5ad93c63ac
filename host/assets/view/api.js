// Talks to the server. The token comes in the address's fragment, which browsers send to nobody; it is kept for this
// tab, taken out of the address, and sent in a header.

const KEY = "meniscus-token";

function takeToken() {
  const given = location.hash.slice(1);
  if (/^[0-9a-f]{16,}$/.test(given)) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEY) ?? "";
}

const token = takeToken();

/** A refusal of the server, with its sentence. */
export class Refusal extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${token}`, ...options.headers };
  const response = await fetch(`/api/${path}`, { ...options, headers, cache: "no-store" });
  if (!response.ok && response.status !== 304) throw new Refusal(response.status, (await response.text()).trim());
  return response;
}

const known = new Map();

/** JSON; the very same object as before while the server says the same. */
export async function json(path) {
  const before = known.get(path);
  const response = await ask(path, before ? { headers: { "If-None-Match": before.tag } } : {});
  if (response.status === 304) return before.value;
  const value = await response.json();
  const tag = response.headers.get("ETag");
  if (tag) known.set(path, { tag, value });
  return value;
}

/** Bytes of a file. */
export async function bytes(path, signal) {
  return (await ask(path, { signal })).arrayBuffer();
}

/** A picture, as an address of this page's own. */
export async function picture(path, signal) {
  return URL.createObjectURL(await (await ask(path, { signal })).blob());
}

/** Has something done. */
export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** The next whole lines of a cook's statistics; `at` says where it is and of which file. */
export async function lines(cook, at) {
  const file = at.file ? `&file=${encodeURIComponent(at.file)}` : "";
  const response = await ask(`cooks/${cook}/stats?from=${at.next}${file}`);
  const header = (name) => response.headers.get(`Meniscus-${name}`);
  return {
    text: await response.text(), file: header("File") || null, next: Number(header("Next")), length: Number(header("Length")),
  };
}

/** A part of a path. */
export const part = encodeURIComponent;
