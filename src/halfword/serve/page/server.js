// A Halfword server as a source of completions.

const HOME = new URL(".", import.meta.url);
const PADDED_QUERY = 512; // characters of the encoded query with its filler
const AGAIN = new Set([429, 502, 503, 504]); // refusals that pass

/**
 * @typedef {object} Suggestion
 * @property {string} text
 * @property {string} [display] the text as most people write it
 * @property {number | null} [score] the natural logarithm of its probability
 * @property {string} [source] popular, model, both or session
 * @property {boolean} [corrected] what was typed has a mistake if this is what was meant
 * @property {number} [matched] how much of the text stands for what was typed
 * @property {{typed: string, added: string}} [highlight] the same as two texts
 */
/** @typedef {{context?: string[], count?: number, signal?: AbortSignal}} Asked */
/** @typedef {{complete: (prefix: string, asked?: Asked) => Promise<Suggestion[]>, accepted?: (text: string) => void}} Source what can be asked: a server, or a model in the page; a server may be told what was chosen */

/** No completions, and why. */
export class SourceError extends Error {
  /**
   * @param {string} message
   * @param {{again?: boolean, forAuthor?: boolean}} kind whether asking again may help; whether only the author of the
   *   page can do something about it
   */
  constructor(message, { again = false, forAuthor = false } = {}) {
    super(message);
    this.name = "SourceError";
    this.again = again;
    this.forAuthor = forAuthor;
  }
}

/** Asks a server. */
export class Server {
  /** @type {SourceError | null} */
  #refusal = null; // the server does not answer pages of this origin

  /**
   * @param {object} options
   * @param {string | URL} [options.server] default the one that this file came from
   * @param {string | null} [options.key] sent as Authorization: Bearer
   * @param {boolean} [options.pad] hide the length of what is typed from those who see the encrypted traffic
   */
  constructor({ server = HOME, key = null, pad = false } = {}) {
    this.server = new URL(server, document.baseURI);
    if (!this.server.pathname.endsWith("/")) this.server.pathname += "/";
    this.key = key;
    this.pad = pad;
  }

  /**
   * The completions of a prefix. `context` is what was searched before, the oldest query first.
   * @param {string} prefix
   * @param {Asked} asked
   * @returns {Promise<Suggestion[]>}
   */
  async complete(prefix, { context = [], count = 10, signal } = {}) {
    if (this.#refusal) throw this.#refusal;
    try {
      return await this.#ask(prefix, context, count, signal);
    } catch (failure) {
      if (!(failure instanceof TypeError)) throw failure;
      // Fetch throws this when there is no connection, or no permission, and does not say which.
      if (!(await this.#isRefused(prefix, context, count))) {
        throw new SourceError("No completions: the server cannot be reached.", { again: true });
      }
      const { origin } = this.server;
      const message = `${origin} gives no completions to ${location.origin}; start it with --allow-origin ${location.origin}`;
      this.#refusal = new SourceError(message, { forAuthor: true });
      throw this.#refusal;
    }
  }

  /**
   * Tells the server that a suggestion was chosen, also when the page is left; nobody waits for the answer.
   * @param {string} text
   */
  accepted(text) {
    const told = { method: "POST", body: this.#padded(JSON.stringify({ text })), headers: this.#headers() };
    fetch(new URL("accepted", this.server), { ...told, credentials: "omit", keepalive: true }).catch(() => {});
  }

  /** @returns {Record<string, string>} */
  #headers() {
    return this.key ? { Authorization: `Bearer ${this.key}` } : {};
  }

  /**
   * @param {string} prefix
   * @param {string[]} context
   * @param {number} count
   * @param {AbortSignal} [signal]
   */
  async #ask(prefix, context, count, signal) {
    const headers = this.#headers();
    // Addresses are logged in many places, so what was searched before goes into a body.
    const asked = context.length > 0 ? { method: "POST", body: this.#body(prefix, context, count) } : {};
    const address = context.length > 0 ? new URL("complete", this.server) : this.#address(prefix, count);
    const reply = await fetch(address, { ...asked, signal, headers, credentials: "omit" });
    const body = await reply.json().catch(() => ({}));
    if (!reply.ok) {
      const message = body.error?.message ?? `The server answered ${reply.status}.`;
      throw new SourceError(message, { again: AGAIN.has(reply.status) });
    }
    const result = body.results?.[0] ?? body;
    if (result.prefix !== prefix) throw new DOMException("an answer to something else", "AbortError");
    return result.completions;
  }

  /**
   * A server that is there and fails again refuses this origin.
   * @param {string} prefix
   * @param {string[]} context
   * @param {number} count
   */
  async #isRefused(prefix, context, count) {
    if (this.server.origin === location.origin || !(await this.#isReachable())) return false;
    return this.#ask(prefix, context, count).then(
      () => false,
      (failure) => failure instanceof TypeError,
    );
  }

  /** Tells whether the server is there at all, even if this page may not read its answers. */
  #isReachable() {
    return fetch(new URL("healthz", this.server), { mode: "no-cors", credentials: "omit" }).then(
      () => true,
      () => false,
    );
  }

  /**
   * @param {string} prefix
   * @param {string[]} context
   * @param {number} count
   */
  #body(prefix, context, count) {
    return this.#padded(JSON.stringify({ prefixes: [prefix], n: count, context, ...(this.pad ? { pad: true } : {}) }));
  }

  /** @param {string} body */
  #padded(body) {
    const length = PADDED_QUERY * Math.ceil(body.length / PADDED_QUERY);
    return this.pad ? body.padEnd(length) : body; // JSON may end with spaces
  }

  /**
   * @param {string} prefix
   * @param {number} count
   */
  #address(prefix, count) {
    const address = new URL("complete", this.server);
    address.searchParams.set("q", prefix);
    address.searchParams.set("n", String(count));
    if (this.pad) address.searchParams.set("pad", "0".repeat(Math.max(1, PADDED_QUERY - address.search.length)));
    return address;
  }
}
