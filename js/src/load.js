// `load`: a model from an address, a file or bytes, ready to complete, in a Web Worker where there are such.

import { download } from "./download.js";
import { engineFile } from "./engine.js";
import { ModelFileError } from "./model-file.js";
import { Model } from "./model.js";

/** @typedef {import("./model.js").About} About */
/** @typedef {import("./model.js").Answer} Answer */
/** @typedef {import("./model.js").Asked} Asked */
/** @typedef {import("./download.js").OnProgress} OnProgress */

/**
 * @typedef {object} LoadOptions
 * @property {boolean} [worker] answer in a Web Worker, so that the page never waits; default true where there are such
 * @property {boolean} [cache] keep the model in Cache Storage; default true
 * @property {boolean} [verify] compare the model with its checksums; default true
 * @property {OnProgress} [onProgress] called while the model is downloaded
 * @property {string | URL} [engine] the folder of halfword.wasm and halfword-simd.wasm; default that of this module
 */

/**
 * A model that is ready to complete.
 * @typedef {object} LoadedModel
 * @property {About} about
 * @property {(prefix: string, asked?: Asked & {signal?: AbortSignal}) => Promise<Answer>} complete
 * @property {() => Promise<number>} memory bytes in use
 * @property {() => void} close end the worker; the model answers no more
 */

const HERE = new URL(".", import.meta.url);
const inNode = typeof process !== "undefined" && process.versions?.node !== undefined;

/**
 * Load a model from an address, in Node also from a path, or from the bytes of a file.
 * @param {string | URL | Uint8Array | ArrayBuffer | Blob} source
 * @param {LoadOptions} options
 * @returns {Promise<LoadedModel>}
 */
export async function load(source, options = {}) {
  const { worker = typeof Worker !== "undefined" && !inNode } = options;
  const resolved = typeof source === "string" || source instanceof URL ? addressOf(source) : source;
  const settings = { ...options, engine: new URL(options.engine ?? HERE, HERE).href, onProgress: undefined };
  if (worker) return inWorker(resolved, settings, options.onProgress);
  const model = await loadHere(resolved, { ...options, engine: settings.engine });
  return {
    about: model.about,
    complete: async (prefix, { signal, ...asked } = {}) => {
      signal?.throwIfAborted();
      return model.complete(prefix, asked);
    },
    memory: async () => model.memory,
    close: () => model.close(),
  };
}

/**
 * Load a model in this thread.
 * @param {string | Uint8Array | ArrayBuffer | Blob} source an absolute address, or the file itself
 * @param {LoadOptions & {engine: string}} options
 */
export async function loadHere(source, options) {
  const engine = compile(new URL(engineFile(), options.engine));
  engine.catch(() => {}); // told below, once the model is here
  if (typeof source !== "string") return Model.open(await engine, await bytesOf(source), options);
  if (source.startsWith("file:")) return Model.open(await engine, await readFile(new URL(source)), options);
  const got = await download(source, options);
  try {
    const model = await Model.open(await engine, got.bytes, options);
    void got.keep();
    return model;
  } catch (error) {
    if (got.from === "network" || !(error instanceof ModelFileError)) throw error;
    await got.drop(); // what was kept may be damaged, or of another version; what the server has may not be
    return loadHere(source, options);
  }
}

/**
 * @param {string | Uint8Array | ArrayBuffer | Blob} source
 * @param {Record<string, any>} settings
 * @param {OnProgress | undefined} onProgress
 * @returns {Promise<LoadedModel>}
 */
async function inWorker(source, settings, onProgress) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "halfword" });
  const line = new Line(worker, onProgress);
  try {
    const about = await line.ask({ load: source, settings });
    return {
      about,
      complete: (prefix, { signal, ...asked } = {}) =>
        line.ask({ complete: prefix, asked }, signal).then(([found, timedOut]) => Object.assign(found, { timedOut })),
      memory: () => line.ask({ memory: true }),
      close: () => line.close(),
    };
  } catch (error) {
    line.close();
    throw error;
  }
}

/**
 * Questions to a worker, one at a time; one that is aborted before its turn is never asked.
 * @typedef {{question: object, resolve: (answer: any) => void, reject: (error: unknown) => void, signal?: AbortSignal}} Waiting
 */
class Line {
  /** @type {Waiting[]} */
  #waiting = [];
  /** @type {Waiting | null} */
  #asked = null;
  #worker;

  /**
   * @param {Worker} worker
   * @param {OnProgress | undefined} onProgress
   */
  constructor(worker, onProgress) {
    this.#worker = worker;
    worker.onmessage = ({ data }) => {
      if (data.progress) onProgress?.(data.progress);
      else this.#answered(data);
    };
    worker.onerror = (event) => {
      event.preventDefault?.();
      this.#fail(new Error(`the worker failed: ${event.message ?? "its file cannot be loaded"}`));
    };
  }

  /**
   * @param {object} question
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  ask(question, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const entry = { question, resolve, reject, signal };
      signal?.addEventListener("abort", () => {
        this.#waiting = this.#waiting.filter((each) => each !== entry);
        reject(signal.reason);
      });
      this.#waiting.push(entry);
      this.#next();
    });
  }

  close() {
    this.#worker.terminate();
    this.#fail(new Error("the model was closed"));
  }

  #next() {
    if (this.#asked !== null) return;
    this.#asked = this.#waiting.shift() ?? null;
    if (this.#asked !== null) this.#worker.postMessage(this.#asked.question);
  }

  /** @param {{answer?: any, error?: {name: string, message: string}}} told */
  #answered({ answer, error }) {
    if (error) this.#asked?.reject(Object.assign(new Error(error.message), { name: error.name }));
    else this.#asked?.resolve(answer);
    this.#asked = null;
    this.#next();
  }

  /** @param {Error} error */
  #fail(error) {
    for (const each of [this.#asked, ...this.#waiting]) each?.reject(error);
    this.#asked = null;
    this.#waiting = [];
  }
}

/**
 * An address as an absolute one; in Node a path too.
 * @param {string | URL} source
 */
function addressOf(source) {
  if (source instanceof URL) return source.href;
  if (!inNode) return new URL(source, document.baseURI).href;
  if (/^[a-z]+:\/\//iu.test(source)) return source;
  return new URL(source.split("/").map(encodeURIComponent).join("/"), `file://${process.cwd()}/`).href;
}

/** @param {Uint8Array | ArrayBuffer | Blob} source */
async function bytesOf(source) {
  if (source instanceof Uint8Array) return source;
  return new Uint8Array(source instanceof Blob ? await source.arrayBuffer() : source);
}

/** @param {URL} address */
async function readFile(address) {
  const { readFile: read } = await import("node:fs/promises");
  return read(address);
}

/** @param {URL} address */
async function compile(address) {
  if (address.protocol === "file:" && inNode) return WebAssembly.compile(await readFile(address));
  const reply = await fetch(address);
  if (!reply.ok) throw new Error(`${address}: the server answered ${reply.status}`);
  // A server that does not know the type of the file is no reason to fail.
  const streams = reply.headers.get("content-type")?.startsWith("application/wasm");
  return streams ? WebAssembly.compileStreaming(reply) : WebAssembly.compile(await reply.arrayBuffer());
}
