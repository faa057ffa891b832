// Made by js/make_defaults.py from core/options.py, core/context.py and core/policy.py; not written by hand.

/** @type {Record<string, any>} */
export const DEFAULTS = {
  count: 10,
  beam: 10,
  retrace: null,
  segmentations: 1,
  max_pieces: 40,
  merge: true,
  prune: true,
  haste: null,
  conditional: true,
  min_probability: null,
  invent: "careful",
  deadline_ms: null,
  fold: true,
  typos: "off",
  echo: false,
};
/** By option: whether it is a whole number, its lowest and its highest value.
 * @type {Record<string, [boolean, number, number]>} */
export const RANGES = {
  count: [true, 1, 1000],
  beam: [true, 1, 1000],
  retrace: [true, 0, 1000],
  segmentations: [true, 1, 100],
  max_pieces: [true, 1, 1000],
  haste: [false, 0.0, 100.0],
  min_probability: [false, 0.0, 1.0],
  deadline_ms: [false, 0.001, 3600000],
};
/** @type {Record<string, string[]>} */
export const CHOICES = {
  invent: ["never", "careful", "freely"],
  typos: ["auto", "off"],
};
export const MAY_BE_NULL = ["deadline_ms", "haste", "min_probability", "retrace"];
/** Earlier queries that are looked at, and characters of the longest of them. */
export const CONTEXT = {
  mostQueries: 20,
  longestQuery: 500,
};
/** By number of the policy: its default, its lowest and its highest value.
 * @type {Record<string, [number, number, number]>} */
export const POLICY = {
  many_queries: [10.0, 0.0, 1000000.0],
  beam_factor_none: [4.0, 0.01, 100.0],
  beam_factor_few: [2.0, 0.01, 100.0],
  beam_factor_many: [0.8, 0.01, 100.0],
  widest_beam: [1000.0, 1.0, 1000.0],
  haste_none: [0.25, 0.0, 100.0],
  haste_few: [0.5, 0.0, 100.0],
  haste_many: [1.5, 0.0, 100.0],
  read_limit_base: [25.0, 1.0, 1000000.0],
  read_limit_per_beam: [4.0, 0.0, 10000.0],
  enough_repeats: [1.5, 0.0, 1000000000.0],
  longest_searched: [1024.0, 0.0, 100000.0],
  surplus_factor: [1.0, 0.0, 10.0],
  companions_most_queries: [0.0, 0.0, 1000000.0],
  companions_half_trust: [5.0, 0.001, 1000000.0],
  companions_most_words: [20.0, 1.0, 100.0],
  companions_end_hits: [0.3, 0.0, 100.0],
  companions_end_trials: [1.0, 0.001, 100.0],
  spellings_most_queries: [10.0, 0.0, 1000.0],
  spellings_most_alike: [50.0, 1.0, 1000.0],
  spellings_fewest_letters: [2.0, 1.0, 100.0],
  folded_most_queries: [10.0, 0.0, 1000000.0],
  folded_log_probability: [-1.0, -30.0, 0.0],
  composing_log_probability: [-0.7, -30.0, 0.0],
  folded_most_readings: [2.0, 1.0, 100.0],
  corrected_most_queries: [30.0, 0.0, 1000000.0],
  corrected_edit_cost: [3.0, 0.0, 30.0],
  corrected_fewest_letters: [3.0, 1.0, 100.0],
  corrected_letters_for_two: [6.0, 1.0, 100.0],
  corrected_enough_score: [1.0, -30.0, 30.0],
  corrected_near_words: [4.0, 1.0, 100.0],
  corrected_beam: [8.0, 1.0, 100.0],
  corrected_most_readings: [2.0, 0.0, 100.0],
  corrected_band: [2.0, 0.0, 30.0],
  corrected_count: [5.0, 1.0, 100.0],
  corrected_word_slack: [5.0, 0.0, 30.0],
  corrected_least_gain: [-3.0, -30.0, 30.0],
  corrected_unknown_count: [0.1, 1e-06, 1.0],
  corrected_new_words: [-2.0, -30.0, 0.0],
  corrected_most_steps: [3000.0, 0.0, 10000000.0],
  page: [10.0, 1.0, 100.0],
  length_penalty: [0.05, -1.0, 10.0],
  min_probability: [0.002, 0.0, 1.0],
  invented_min_probability: [0.05, 0.0, 1.0],
  often_typed: [5.0, 0.0, 1000000000.0],
};
