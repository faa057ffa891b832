// Getting a model file: streamed with progress, and kept in Cache Storage, so that the next visit needs no network.

const CACHE = "halfword-models";

/**
 * @typedef {object} Progress
 * @property {number} loaded bytes
 * @property {number | null} total bytes, where the server says so
 */
/** @typedef {(progress: Progress) => void} OnProgress */
/** @typedef {{bytes: Uint8Array, from: "cache" | "network", keep: () => Promise<void>, drop: () => Promise<void>}} Got */

/**
 * The bytes of a file at an address, from the cache if it is there; `keep` puts it there once it is known to be sound.
 * What was kept is used at once; whether the server has another by now is asked afterwards, for the next visit.
 * @param {string} address absolute
 * @param {{cache?: boolean, onProgress?: OnProgress}} options
 * @returns {Promise<Got>}
 */
export async function download(address, { cache = true, onProgress = () => {} } = {}) {
  const store = cache ? await openCache() : null;
  const kept = await store?.match(address);
  const drop = async () => void (await store?.delete(address));
  if (kept) {
    const bytes = new Uint8Array(await kept.arrayBuffer());
    onProgress({ loaded: bytes.byteLength, total: bytes.byteLength });
    return { bytes, from: "cache", keep: () => refresh(/** @type {Cache} */ (store), address, kept), drop };
  }
  // The browser may hold an older version, which it would take for fresh: the server is asked whether it is.
  const { bytes, headers } = await fetched(address, onProgress, store ? "no-cache" : "default");
  const keep = async () => {
    // A full disk must not keep a page from completing.
    await store?.put(address, new Response(bytes, { headers })).catch(() => {});
  };
  return { bytes, from: "network", keep, drop };
}

/** @returns {Promise<Cache | null>} null where there is none: in Node, on insecure pages, in some private windows */
async function openCache() {
  try {
    return await caches.open(CACHE);
  } catch {
    return null;
  }
}

/**
 * @param {string} address
 * @param {OnProgress} onProgress
 * @param {RequestCache} cache
 */
async function fetched(address, onProgress, cache) {
  const reply = await fetch(address, { credentials: "same-origin", cache });
  if (!reply.ok || !reply.body) throw new Error(`${address}: the server answered ${reply.status}`);
  const stated = Number(reply.headers.get("content-length"));
  const total = stated > 0 && !reply.headers.get("content-encoding") ? stated : null;
  const chunks = [];
  let loaded = 0;
  for (const reader = reply.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    loaded += value.byteLength;
    onProgress({ loaded, total });
  }
  const bytes = new Uint8Array(loaded);
  let end = 0;
  for (const chunk of chunks) bytes.set(chunk, (end += chunk.byteLength) - chunk.byteLength);
  return { bytes, headers: validators(reply.headers) };
}

/**
 * What tells one version of a file from the next.
 * @param {Headers} headers
 */
function validators(headers) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const name of ["etag", "last-modified"]) {
    const value = headers.get(name);
    if (value !== null) found[name] = value;
  }
  return found;
}

/**
 * Forget what was kept if the server has another version by now: the next visit gets that.
 * @param {Cache} store
 * @param {string} address
 * @param {Response} kept
 */
async function refresh(store, address, kept) {
  try {
    const reply = await fetch(address, { method: "HEAD", credentials: "same-origin", cache: "no-cache" });
    const now = validators(reply.headers);
    const changed = Object.entries(now).some(([name, value]) => kept.headers.get(name) !== value);
    if (reply.ok && changed) await store.delete(address);
  } catch {
    // Without a network, what was kept is all there is.
  }
}
