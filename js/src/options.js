// The options of a search: their defaults, limits and meaning are those of core/options.py.

import { CHOICES, DEFAULTS, MAY_BE_NULL, RANGES } from "./defaults.js";

/** A model was asked wrongly; the message says how. */
export class OptionError extends Error {
  name = "OptionError";
}

/**
 * @typedef {object} SearchOptions
 * @property {number} [count] completions wanted
 * @property {number} [beam]
 * @property {number | null} [retrace]
 * @property {number} [segmentations]
 * @property {number} [max_pieces]
 * @property {boolean} [merge]
 * @property {boolean} [prune]
 * @property {number | null} [haste]
 * @property {boolean} [conditional]
 * @property {number | null} [min_probability] offer nothing less likely than this
 * @property {"never" | "careful" | "freely"} [invent] whether words are offered that nobody typed
 * @property {number | null} [deadline_ms] return the best found by then
 * @property {boolean} [fold] also offer what differs in accents, apostrophes or hyphens
 * @property {"auto" | "off"} [typos] correct typing mistakes
 * @property {"any" | "as typed"} [order] also offer queries that hold the typed words in another order
 * @property {boolean} [echo]
 */

/**
 * The options as the engine takes them, numbers by name; what is unknown or out of its limits is refused.
 * @param {SearchOptions} given
 * @returns {Record<string, number>}
 */
export function engineOptions(given) {
  for (const [name, value] of Object.entries(given)) check(name, value);
  const options = { ...DEFAULTS, ...given };
  return {
    ...Object.fromEntries(Object.entries(options).map(([name, value]) => [name, Number(value)])),
    retrace: options.retrace ?? 2 ** 31 - 1,
    haste: options.haste ?? 0,
    adapt: Number(options.haste === null),
    min_probability: options.min_probability ?? -1,
    invent: CHOICES.invent.indexOf(String(options.invent)),
    typos: Number(options.typos === "auto"),
    any_order: Number(options.order === "any"),
    deadline_ms: options.deadline_ms ?? 0,
  };
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function check(name, value) {
  if (!(name in DEFAULTS)) {
    throw new OptionError(`unknown option ${name}; the options are: ${Object.keys(DEFAULTS).join(", ")}`);
  }
  if (value === null && MAY_BE_NULL.includes(name)) return;
  if (name in CHOICES) {
    const choices = CHOICES[/** @type {keyof typeof CHOICES} */ (name)];
    if (!choices.includes(String(value))) {
      throw new OptionError(`${name} must be one of ${choices.join(", ")}, got ${JSON.stringify(value)}`);
    }
  } else if (name in RANGES) {
    const [whole, lowest, highest] = RANGES[/** @type {keyof typeof RANGES} */ (name)];
    if (typeof value !== "number" || (whole && !Number.isInteger(value))) {
      throw new OptionError(`${name} must be a ${whole ? "whole number" : "number"}, got ${JSON.stringify(value)}`);
    }
    if (!(lowest <= value && value <= highest)) {
      throw new OptionError(`${name} must lie between ${lowest} and ${highest}, got ${value}`);
    }
  } else if (typeof value !== "boolean") {
    throw new OptionError(`${name} must be true or false, got ${JSON.stringify(value)}`);
  }
}
