// The engine, compiled to WebAssembly: `engine/bindings/wasm.cc` has the functions that are called here. One instance
// holds one model.

import { ModelFileError, damaged } from "./model-file.js";

/** @typedef {import("./model-file.js").Header} Header */
/**
 * @typedef {object} Completion
 * @property {string} text
 * @property {number} score the natural logarithm of p(text | prefix)
 * @property {"popular" | "model" | "both" | "session"} source
 * @property {string} display the text as most people write it, with their capitals
 * @property {boolean} corrected the prefix was mistyped if this is what was meant
 * @property {number} matched how much of the text stands for the prefix: `text.slice(0, matched)`
 */

/** @type {Completion["source"][]} */
const SOURCES = ["popular", "model", "both", "session"];
const NUMBERS = 6; // of each completion
const CACHED_STATES = 256; // what a keystroke leaves for the next one, some 10 kB each; one person types
const CACHED_ANSWERS = 64;
const PARTS = ["popular", "ngram", "network"];
const BLANK_DIGEST = "0".repeat(16);
// A module that uses one instruction on 128-bit vectors: valid only where they are there.
const SIMD_PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The engine threw; `halfword_error` says what. */
class EngineError extends Error {}

/** The name of the build that this machine can run. */
export function engineFile() {
  return WebAssembly.validate(SIMD_PROBE) ? "halfword-simd.wasm" : "halfword.wasm";
}

/** A model in the memory of a WebAssembly instance. */
export class Engine {
  /** @type {Record<string, any>} */
  #call;
  #file = 0;
  #typed = { address: 0, size: 0 };
  /** @type {string[]} */
  #optionNames;

  /** @param {WebAssembly.Module} module */
  static async create(module) {
    /** @type {{exports?: WebAssembly.Exports}} */
    const self = {};
    const instance = await WebAssembly.instantiate(
      module,
      imports(module, () => /** @type {any} */ (self.exports).memory),
    );
    self.exports = instance.exports;
    return new Engine(instance.exports);
  }

  /** @param {Record<string, any>} exports */
  constructor(exports) {
    this.#call = exports;
    exports._initialize?.();
    this.#optionNames = this.#textAt(exports.halfword_option_names()).split(" ");
  }

  /** The instruction set in use. */
  get kernels() {
    return this.#textAt(this.#call.halfword_kernels());
  }

  /** Bytes of memory in use, the model included. */
  get memory() {
    return this.#call.memory.buffer.byteLength;
  }

  /** The names of what the ranker looks at. */
  get features() {
    return this.#textAt(this.#call.halfword_feature_names()).split(" ");
  }

  /**
   * Open a model; one that is damaged is refused.
   * @param {Uint8Array} bytes the whole file
   * @param {Header} header
   * @param {boolean} verify
   */
  open(bytes, header, verify) {
    this.#file = this.#call.halfword_allocate(bytes.byteLength);
    if (this.#file === 0) throw new ModelFileError(`there is no memory for a model of ${bytes.byteLength} bytes`);
    new Uint8Array(this.#call.memory.buffer, this.#file, bytes.byteLength).set(bytes);
    if (verify) this.#verify(header);
    this.#checkFeatures(header);
    for (const [name, { dtype, begin, end }] of header.places) {
      this.#withText(name, (address) =>
        this.#withText(dtype, (type) => this.#call.halfword_add_array(address, type, begin, end)),
      );
    }
    for (const [name, value] of Object.entries(header.policy)) {
      if (!this.#withText(name, (address) => this.#call.halfword_set_policy(address, value))) {
        throw new ModelFileError(`the engine knows no number ${name} of the policy; build it again: npm run build`);
      }
    }
    const uses = PARTS.map((part) => Number(partsOf(header).includes(part)));
    if (!uses.includes(1)) throw new ModelFileError("the model has no part that can complete; train it again");
    try {
      this.#withText("", (kernels) =>
        this.#call.halfword_open(this.#file, bytes.byteLength, ...uses, kernels, CACHED_STATES, CACHED_ANSWERS),
      );
    } catch (error) {
      throw error instanceof EngineError ? damaged(this.#textAt(this.#call.halfword_error())) : error;
    }
  }

  /**
   * @param {string} prefix normalised
   * @param {string[]} context normalised
   * @param {Record<string, number>} options
   * @returns {{completions: Completion[], timedOut: boolean}}
   */
  complete(prefix, context, options) {
    const size = this.#writeTyped([...context, prefix].join("\n"));
    const values = new Float64Array(this.#call.memory.buffer, this.#call.halfword_options(), this.#optionNames.length);
    this.#optionNames.forEach((name, place) => (values[place] = options[name]));
    const count = this.#call.halfword_complete(this.#typed.address, size);
    return { completions: this.#answer(count), timedOut: this.#call.halfword_answer_timed_out() === 1 };
  }

  /** @param {number} count */
  #answer(count) {
    const { buffer } = this.#call.memory;
    const numbers = new Float64Array(buffer, this.#call.halfword_answer_numbers(), NUMBERS * count);
    let address = this.#call.halfword_answer_texts();
    const take = (/** @type {number} */ size) => new Uint8Array(buffer, (address += size) - size, size);
    return Array.from({ length: count }, (_, row) => {
      const [score, source, corrected, matched, size, displaySize] = numbers.subarray(
        NUMBERS * row,
        NUMBERS * (row + 1),
      );
      const text = take(size);
      return {
        text: decoder.decode(text),
        score,
        source: SOURCES[source],
        display: decoder.decode(take(displaySize)),
        corrected: corrected === 1,
        matched: decoder.decode(text.subarray(0, matched)).length,
      };
    });
  }

  /** @param {Header} header */
  #verify({ digest, length, places }) {
    if (digest === "") return; // written before there were checksums
    const header = new Uint8Array(this.#call.memory.buffer, this.#file, length);
    const place = decoder.decode(header).indexOf(`"digest":"${digest}"`);
    const found = this.#withBlank(header, place, digest);
    if (found !== digest) throw damaged("its header does not match its digest");
    for (const [name, { begin, end, checksum }] of places) {
      const sum = this.#call.halfword_crc32(this.#file + begin, end - begin) >>> 0;
      if (checksum !== "" && sum.toString(16).padStart(8, "0") !== checksum) {
        throw damaged(`the array ${name} does not match its checksum`);
      }
    }
  }

  /**
   * The digest of a header, for which zeros stand in the place of the digest itself.
   * @param {Uint8Array} header
   * @param {number} place in characters; what stands before the digest is ASCII
   * @param {string} digest
   */
  #withBlank(header, place, digest) {
    const begin = place + '"digest":"'.length;
    const size = header.byteLength;
    header.set(encoder.encode(BLANK_DIGEST), begin);
    const address = this.#call.halfword_digest(this.#file, size);
    // Memory that grew meanwhile has moved, and the old view of it is empty.
    new Uint8Array(this.#call.memory.buffer, this.#file, size).set(encoder.encode(digest), begin);
    return this.#textAt(address);
  }

  /** @param {Header} header */
  #checkFeatures(header) {
    const known = this.features.slice(0, header.features.length);
    if (partsOf(header).length > 1 && header.features.join(" ") !== known.join(" ")) {
      throw new ModelFileError("the model's ranker looks at other features than this version; train it again");
    }
  }

  /** @param {string} text */
  #writeTyped(text) {
    if (this.#typed.size < 3 * text.length) {
      this.#call.halfword_release(this.#typed.address);
      this.#typed = { address: this.#call.halfword_allocate(3 * text.length + 64), size: 3 * text.length + 64 };
    }
    const place = new Uint8Array(this.#call.memory.buffer, this.#typed.address, this.#typed.size);
    return encoder.encodeInto(text, place).written ?? 0;
  }

  /**
   * Call a function with the address of a text that ends with a zero.
   * @template T
   * @param {string} text
   * @param {(address: number) => T} does
   * @returns {T}
   */
  #withText(text, does) {
    const bytes = encoder.encode(`${text}\0`);
    const address = this.#call.halfword_allocate(bytes.byteLength);
    new Uint8Array(this.#call.memory.buffer, address, bytes.byteLength).set(bytes);
    try {
      return does(address);
    } finally {
      this.#call.halfword_release(address);
    }
  }

  /** @param {number} address */
  #textAt(address) {
    const bytes = new Uint8Array(this.#call.memory.buffer, address);
    return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
  }
}

/**
 * The parts that a model has.
 * @param {Header} header
 */
export function partsOf({ places }) {
  const names = [...places.keys()];
  return PARTS.filter((part) => names.some((name) => name.startsWith(`${part}.`)));
}

/**
 * What the engine needs from outside: a clock, for deadlines. Everything else that its library may ask for is refused.
 * @param {WebAssembly.Module} module
 * @param {() => WebAssembly.Memory} memory
 */
function imports(module, memory) {
  /** @type {Record<string, (...given: any[]) => any>} */
  const known = {
    clock_time_get(_clock, _precision, address) {
      const now = BigInt(Math.round(performance.now() * 1e6));
      new DataView(memory().buffer).setBigUint64(address, now, true);
      return 0;
    },
    emscripten_notify_memory_growth() {},
    // The engine is built without exceptions, which would make it larger and slower: a JavaScript error takes the
    // place of the first one, and the instance is not used again.
    halfword_thrown() {
      throw new EngineError("the engine has failed");
    },
  };
  /** @type {Record<string, Record<string, any>>} */
  const given = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    const refuse = () => {
      throw new Error(`the engine called ${name}, which a page does not have`);
    };
    (given[from] ??= {})[name] = known[name] ?? refuse;
  }
  return given;
}
