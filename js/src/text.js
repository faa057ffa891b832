// Normalisation of what was typed: the same as core/text.py, which explains every rule. A test asks both the same.

const CONTROLS = "\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f"; // those that are not white space
const IGNORABLE =
  "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f" +
  "\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
const JOINED =
  "\\u0600-\\u08ff\\u0900-\\u0dff\\u1000-\\u109f\\u1780-\\u18af\\u1b00-\\u1b7f\\ua840-\\ua87f\\ua8e0-\\ua8ff" +
  "\\ua980-\\ua9df\\u{10d00}-\\u{10d3f}\\u{11000}-\\u{11fff}\\u{1e900}-\\u{1e95f}";
const EMOJI = "\\u2190-\\u21ff\\u2300-\\u27bf\\u2b00-\\u2bff\\u{1f000}-\\u{1faff}";

const INVISIBLE = new RegExp(`[${CONTROLS}${IGNORABLE}](?<![\\u1820-\\u18aa][\\u180b-\\u180f])`, "gu");
const ANY_JOINER = /[\u200c\u200d]/u;
// The runs of joiners are taken whole by the lookahead that follows them: nothing else may stand behind a run.
const JOINERS = new RegExp(
  `(?<=[${JOINED}])([\\u200c\\u200d])[\\u200c\\u200d]*(?![\\u200c\\u200d])(?=[${JOINED}])` +
    `|(?<=[${EMOJI}])(\\u200d)\\u200d*(?!\\u200d)(?=[${EMOJI}])|[\\u200c\\u200d]`,
  "gu",
);
// What Python calls white space, which is more than JavaScript does.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const SPACES = new RegExp(`${SPACE}+`, "gu");
const ENDS_WITH_SPACE = new RegExp(`${SPACE}$`, "u");

/**
 * The text as a query: NFKC, lower case, nothing invisible, single spaces, none at either end.
 * @param {string} text
 * @param {string} profile `default`, or `paper` for models that know ASCII alone
 */
export function normaliseQuery(text, profile = "default") {
  return joined(clean(text, profile));
}

/**
 * The text as the beginning of a query: like a query, but a space at its end stays, as a single one.
 * @param {string} text
 * @param {string} profile
 */
export function normalisePrefix(text, profile = "default") {
  const cleaned = clean(text, profile);
  const prefix = joined(cleaned);
  return prefix !== "" && ENDS_WITH_SPACE.test(cleaned) ? `${prefix} ` : prefix;
}

/** @param {string} text */
function joined(text) {
  return text.replace(SPACES, " ").replace(/^ | $/gu, "");
}

/**
 * @param {string} text
 * @param {string} profile
 */
function clean(text, profile) {
  refuseSurrogates(text);
  const cleaned = cleanOnce(text, profile);
  if (ANY_JOINER.test(cleaned) && cleanOnce(cleaned, profile) !== cleaned) {
    // Marks changed places, and with them a joiner's neighbours. Only nonsense does that, and it loses its joiners.
    return cleanOnce(cleaned.replace(/[\u200c\u200d]/gu, ""), profile);
  }
  return cleaned;
}

/**
 * @param {string} text
 * @param {string} profile
 */
function cleanOnce(text, profile) {
  // To NFKC, an acute accent alone is a space and a mark; many type it for an apostrophe.
  const composed = text.replaceAll("\u2581", " ").replaceAll("\u00b4", "'").normalize("NFKC");
  const visible = composed.replace(INVISIBLE, "").replace(JOINERS, "$1$2");
  if (profile === "paper") return visible.replace(/[^\x00-\x7f]/gu, "").toLowerCase();
  const lower = visible.toLowerCase().replaceAll("i\u0307", "i"); // the small letter of İ is i, as Turkish has it
  return lower.normalize("NFKC"); // lower-casing can part what NFKC joined
}

/** @param {string} text */
function refuseSurrogates(text) {
  const place = text.search(/[\ud800-\udfff]/u);
  if (place >= 0) throw new TypeError(`character ${place + 1} is half of a surrogate pair, not text`);
}
