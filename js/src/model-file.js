// Reading the header of a model file: a safetensors file with a card, a policy and checksums (core/model_file.py).

import { POLICY } from "./defaults.js";

export const FORMAT = "3";
const LONGEST_HEADER = 4_000_000; // bytes
const ITEM_SIZE = { U64: 8, F32: 4, U32: 4, U16: 2, I8: 1, U8: 1 };

/** A model file cannot be used; the message says why. */
export class ModelFileError extends Error {
  name = "ModelFileError";
}

/**
 * @typedef {{dtype: string, begin: number, end: number, checksum: string}} Place where an array lies in the file
 * @typedef {object} Header
 * @property {Record<string, any>} card what the model learned from, when and how
 * @property {Record<string, number>} policy
 * @property {string[]} features
 * @property {string} digest of the header; empty in files that were written before there were checksums
 * @property {number} length bytes before the first array
 * @property {Map<string, Place>} places
 */

/**
 * What a model file says of itself.
 * @param {Uint8Array} bytes the whole file
 * @returns {Header}
 */
export function readHeader(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = bytes.byteLength >= 9 ? view.getUint32(0, true) + 2 ** 32 * view.getUint32(4, true) : Infinity;
  if (size > LONGEST_HEADER || bytes[8] !== 0x7b) throw foreign("it does not begin like one");
  if (8 + size > bytes.byteLength) throw damaged("its header is cut off");
  const header = parsed(new TextDecoder().decode(bytes.subarray(8, 8 + size)), "header");
  const { __metadata__: metadata, ...entries } = header;
  if (typeof metadata?.halfword !== "string") throw foreign("it is a safetensors file of another program");
  if (metadata.halfword !== FORMAT) {
    throw new ModelFileError(`the model has format ${metadata.halfword}, this version reads ${FORMAT}; train it again`);
  }
  const checksums = parsed(metadata.checksums ?? "{}", "checksums");
  const length = 8 + size;
  const places = new Map(
    Object.entries(entries).map(([name, entry]) => [
      name,
      placeOf(name, entry, length, bytes.byteLength, checksums[name]),
    ]),
  );
  const features = (metadata.features ?? "").split(" ").filter(Boolean);
  const card = parsed(metadata.card, "card");
  const policy = policyOf(parsed(metadata.policy, "policy"));
  return { card, policy, features, digest: metadata.digest ?? "", length, places };
}

/**
 * @param {string} reason
 */
export function damaged(reason) {
  return new ModelFileError(`the model is damaged: ${reason}; copy or train it again`);
}

/** @param {string} reason */
function foreign(reason) {
  return new ModelFileError(`this is not a model file: ${reason}; make one with: halfword train data/ -o my.halfword`);
}

/**
 * @param {string} text
 * @param {string} name
 * @returns {Record<string, any>}
 */
function parsed(text, name) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(`its ${name} is not JSON`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw damaged(`its ${name} is not an object`);
  return value;
}

/**
 * @param {string} name
 * @param {any} entry
 * @param {number} start
 * @param {number} size
 * @param {string | undefined} checksum
 * @returns {Place}
 */
function placeOf(name, entry, start, size, checksum) {
  const [begin, end] = entry?.data_offsets ?? [];
  const itemSize = ITEM_SIZE[/** @type {keyof typeof ITEM_SIZE} */ (entry?.dtype)];
  const items = Array.isArray(entry?.shape)
    ? entry.shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1)
    : NaN;
  if (!(Number.isInteger(begin) && begin >= 0 && end - begin === items * itemSize)) {
    throw damaged(`the entry of the array ${name} makes no sense`);
  }
  if (start + end > size) throw damaged(`the array ${name} is cut off`);
  return { dtype: entry.dtype, begin: start + begin, end: start + end, checksum: checksum ?? "" };
}

/**
 * The numbers of the policy; those that a file of an earlier version lacks have their defaults.
 * @param {Record<string, any>} given
 */
function policyOf(given) {
  /** @type {Record<string, number>} */
  const policy = {};
  const unknown = Object.keys(given).filter((name) => !(name in POLICY));
  if (unknown.length > 0)
    throw new ModelFileError(`the policy's numbers do not fit this version (${unknown.join(", ")})`);
  for (const [name, [fallback, lowest, highest]] of Object.entries(POLICY)) {
    const value = given[name] ?? fallback;
    if (!(typeof value === "number" && lowest <= value && value <= highest)) {
      throw damaged(`the policy's ${name} must lie between ${lowest} and ${highest}, got ${value}`);
    }
    policy[name] = value;
  }
  return policy;
}
