// A model that answers in the thread that loaded it; `load` puts one into a Web Worker.

import { CONTEXT } from "./defaults.js";
import { Engine, partsOf } from "./engine.js";
import { readHeader } from "./model-file.js";
import { OptionError, engineOptions } from "./options.js";
import { normalisePrefix, normaliseQuery } from "./text.js";

/** @typedef {import("./engine.js").Completion} Completion */
/** @typedef {import("./options.js").SearchOptions} SearchOptions */
/** @typedef {SearchOptions & {context?: string[]}} Asked what is asked beside the prefix */
/** @typedef {Completion[] & {timedOut: boolean}} Answer the best completion first */
/**
 * What is known of a model.
 * @typedef {object} About
 * @property {Record<string, any>} card
 * @property {string[]} parts
 * @property {string} kernels the instruction set in use
 * @property {string} digest
 */

/** A model in this thread. */
export class Model {
  #engine;
  #header;
  #listsWords;

  /**
   * @param {WebAssembly.Module} module the engine
   * @param {Uint8Array} bytes the whole model file
   * @param {{verify?: boolean}} options
   */
  static async open(module, bytes, { verify = true } = {}) {
    const header = readHeader(bytes);
    const engine = await Engine.create(module);
    engine.open(bytes, header, verify);
    return new Model(engine, header);
  }

  /**
   * @param {Engine} engine
   * @param {import("./model-file.js").Header} header
   */
  constructor(engine, header) {
    this.#engine = engine;
    this.#header = header;
    this.#listsWords = header.places.has("lexicon.size") && partsOf(header).length > 1;
  }

  /** @returns {About} */
  get about() {
    const { card, digest } = this.#header;
    return { card, digest, parts: partsOf(this.#header), kernels: this.#engine.kernels };
  }

  /** Bytes of memory in use. */
  get memory() {
    return this.#engine.memory;
  }

  /**
   * The likeliest completions of a prefix, best first. `context` is what the same person searched before, the oldest
   * query first.
   * @param {string} prefix
   * @param {Asked} asked
   * @returns {Answer}
   */
  complete(prefix, { context = [], ...options } = {}) {
    if (typeof prefix !== "string") throw new OptionError(`a prefix must be text, got ${JSON.stringify(prefix)}`);
    const numbers = engineOptions(options);
    const parts = partsOf(this.#header);
    if (options.invent === "never" && parts.join() !== "popular" && !this.#listsWords) {
      throw new OptionError('this model has no list of words to keep to; without invent: "never" it completes');
    }
    const profile = this.#header.card.profile;
    const earlier = normaliseContext(context, profile);
    const { completions, timedOut } = this.#engine.complete(normalisePrefix(prefix, profile), earlier, numbers);
    return Object.assign(completions, { timedOut });
  }

  close() {}
}

/**
 * @param {string[]} context
 * @param {string} profile
 */
function normaliseContext(context, profile) {
  if (!Array.isArray(context) || context.some((query) => typeof query !== "string")) {
    throw new OptionError(`a context is a list of queries, got ${JSON.stringify(context)}`);
  }
  const last = context.slice(-CONTEXT.mostQueries).filter((query) => [...query].length <= CONTEXT.longestQuery);
  return last.map((query) => normaliseQuery(query, profile)).filter((query) => query !== "");
}
