// The Halfword search box: a custom element in one file, without dependencies. On any page:
//
//   <script type="module" src="https://your.server/halfword.js"></script>
//   <halfword-search label="Search" name="q" action="/search"></halfword-search>
//
// An <input> inside the element is the search box until this file is loaded, and stays it if the file cannot be loaded.
//
// Attributes (all optional):
//   label        the accessible name, shown above the box; with `hide-label` only to screen readers
//   placeholder  shown while the box is empty
//   name         of the value in a form, and in the address that `action` is opened with; default q
//   action       the address opened with ?name=query when a query is submitted
//   value        the text to begin with
//   count        completions shown, default 10
//   min          characters from which on completions are shown, default 0: an empty box shows the most popular
//   delay        milliseconds to wait for the next key before asking, default 0
//   server       the server to ask, default the one that this file came from
//   api-key      sent as Authorization: Bearer
//   pad          hide the length of what is typed from those who see the encrypted traffic
//   details      show score and source of each completion
//   data-context="off"  forget what was searched; otherwise the last ten queries of this browser tab stay in its
//                sessionStorage, are sent with each question, and are offered while the box is empty
//   data-accepted="on"  tell the server which of its suggestions are chosen; it must be started with --live-accepted
//
// Events, which bubble: `halfword-answer` {prefix, completions, milliseconds}, `halfword-failure` {prefix, message},
// `halfword-submit` {query, completion}; preventing the last one keeps `action` from being opened.
//
// Keys: the arrows up and down choose, Enter submits, Escape closes the list and then empties the box, Tab moves on.
// At the end of the text, the right arrow (in right-to-left text the left one) or End accepts and goes on typing.

const HOME = new URL(".", import.meta.url);
const LIVE_REGION_DELAY = 700; // a screen reader is not interrupted at every key
const RETRY_DELAYS = [500, 1000, 2000, 4000];
const PADDED_QUERY = 512; // characters of the encoded query with its filler
const SESSION = "halfword-session"; // the key in sessionStorage
const MOST_EARLIER = 10; // queries that are kept and sent
const LONGEST_EARLIER = 200; // characters; a longer text is no query
const MOST_OFFERED = 5; // earlier queries in the list of an empty box
const AGAIN = new Set([429, 502, 503, 504]); // refusals that pass

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
  :host { display: block; position: relative; font: inherit; color-scheme: light dark;
    --halfword-ink: light-dark(#1b1c1e, #ececee); --halfword-paper: light-dark(#fff, #1e2024);
    --halfword-faint: light-dark(#5a5e66, #a9aeb8); --halfword-line: light-dark(#8b9099, #6c727c);
    --halfword-active: light-dark(#e3ecfd, #2c3a52); --halfword-accent: light-dark(#1a56c4, #8ab4f8); }
  * { box-sizing: border-box; }
  label { display: block; margin-block-end: .35em; font-weight: 600; }
  .hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%);
    white-space: nowrap; margin: 0; }
  input { inline-size: 100%; min-block-size: 2.75rem; padding: .5em .75em; font: inherit; color: var(--halfword-ink);
    background: var(--halfword-paper); border: 1px solid var(--halfword-line); border-radius: .5em; }
  input:focus { outline: 2px solid var(--halfword-accent); outline-offset: 1px; }
  ul { position: absolute; z-index: 10; inset-inline: 0; margin: .25em 0 0; padding: .25em 0; list-style: none;
    color: var(--halfword-ink); background: var(--halfword-paper); border: 1px solid var(--halfword-line);
    border-radius: .5em; box-shadow: 0 .4em 1.2em #0003; max-block-size: 75vh; overflow-y: auto; }
  ul[hidden] { display: none; }
  li { display: flex; flex-wrap: wrap; gap: 0 1em; justify-content: space-between; align-items: baseline; padding: .45em .75em;
    cursor: pointer; overflow-wrap: anywhere; }
  li[aria-selected="true"] { background: var(--halfword-active); }
  b { font-weight: 700; }
  small { color: var(--halfword-faint); font-variant-numeric: tabular-nums; }
  .problem { margin: .4em 0 0; color: var(--halfword-faint); font-size: .875em; }
  .problem:empty { display: none; }
`);

let instances = 0;

/** What was searched in this tab, the oldest first. It never leaves the tab but with a question. */
const session = {
  read() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(SESSION) ?? "[]");
      return Array.isArray(kept) ? kept.filter((query) => typeof query === "string").slice(-MOST_EARLIER) : [];
    } catch { // storage may be forbidden, or hold what another script wrote
      return [];
    }
  },
  add(query) {
    if (query.trim() === "" || query.length > LONGEST_EARLIER) return;
    try {
      sessionStorage.setItem(SESSION, JSON.stringify([...this.read(), query].slice(-MOST_EARLIER)));
    } catch { /* without storage there is no context */ }
  },
};

/** Asks a server for completions; a newer question aborts the one before it. */
export class Client {
  #abort = new AbortController();

  constructor({ server = HOME, key = null, count = 10, pad = false } = {}) {
    Object.assign(this, { server, key, count, pad });
  }

  /**
   * Resolves to {prefix, completions, took_ms, model}; rejects with AbortError when superseded.
   * `context` is what was searched before, the oldest query first.
   */
  async complete(prefix, context = []) {
    this.#abort.abort();
    const { signal } = (this.#abort = new AbortController());
    const headers = this.key ? { Authorization: `Bearer ${this.key}` } : {};
    // Addresses are logged in many places, so what was searched before goes into a body.
    const asked = context.length > 0 ? { method: "POST", body: this.#body(prefix, context) } : {};
    const address = context.length > 0 ? new URL("complete", this.server) : this.#address(prefix);
    const reply = await fetch(address, { ...asked, signal, headers, credentials: "omit" });
    const body = await reply.json().catch(() => ({}));
    if (reply.ok) return body.results ? { ...body, ...body.results[0] } : body;
    const failure = new Error(body.error?.message ?? `The server answered ${reply.status}.`);
    failure.again = AGAIN.has(reply.status);
    throw failure;
  }

  /** Tells the server that a suggestion was chosen, also when the page is left; nobody waits for the answer. */
  accepted(text) {
    const headers = this.key ? { Authorization: `Bearer ${this.key}` } : {};
    const body = this.#padded(JSON.stringify({ text }));
    const told = { method: "POST", body, headers, credentials: "omit", keepalive: true };
    fetch(new URL("accepted", this.server), told).catch(() => {});
  }

  cancel() {
    this.#abort.abort();
  }

  /** Tells whether the server is there at all, even if this page may not read its answers. */
  isReachable() {
    return fetch(new URL("healthz", this.server), { mode: "no-cors", credentials: "omit" }).then(() => true, () => false);
  }

  #body(prefix, context) {
    return this.#padded(JSON.stringify({ prefixes: [prefix], n: this.count, context, ...(this.pad ? { pad: true } : {}) }));
  }

  #padded(body) {
    const length = PADDED_QUERY * Math.ceil(body.length / PADDED_QUERY);
    return this.pad ? body.padEnd(length) : body; // JSON may end with spaces
  }

  #address(prefix) {
    const address = new URL("complete", this.server);
    address.searchParams.set("q", prefix);
    address.searchParams.set("n", this.count);
    if (this.pad) address.searchParams.set("pad", "0".repeat(Math.max(1, PADDED_QUERY - address.search.length)));
    return address;
  }
}

class HalfwordSearch extends HTMLElement {
  static formAssociated = true;
  static observedAttributes = ["label", "placeholder", "value"];

  #internals = this.attachInternals();
  #number = (instances += 1);
  #client = new Client();
  #label = make("label", { htmlFor: "box" });
  #input = make("input", { id: "box", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: false });
  #list = make("ul", { id: `list-${this.#number}`, hidden: true });
  #status = make("div", { className: "hidden" });
  #problem = make("p", { className: "problem" });
  #completions = [];
  #active = -1; // the completion that is chosen, or -1 for what was typed
  #accepted = null; // the completion that was last put into the box
  #typed = "";
  #composing = false;
  #timers = { ask: 0, say: 0, retry: 0 };
  #failures = 0;
  #refusedBy = null; // the origin of a server that does not answer pages of this origin

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [STYLE];
    setAttributes(this.#input, { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false",
      "aria-controls": this.#list.id, enterkeyhint: "search" });
    setAttributes(this.#list, { role: "listbox" });
    setAttributes(this.#status, { role: "status", "aria-live": "polite" });
    root.append(this.#label, this.#input, this.#list, this.#status, this.#problem);
    this.#listen();
  }

  get value() { return this.#input.value; }

  set value(text) {
    this.#input.value = this.#typed = text;
    this.#internals.setFormValue(text);
  }

  connectedCallback() {
    this.#name();
    this.value ||= this.getAttribute("value") ?? "";
    this.#replacePlainInput();
    if (document.readyState === "loading") // what stands inside the element may not have been read yet
      document.addEventListener("DOMContentLoaded", () => this.#replacePlainInput(), { once: true });
  }

  /** Take over from the input that was the search box while this file was being loaded. */
  #replacePlainInput() {
    const plain = this.querySelector("input");
    if (!plain) return;
    const hadFocus = plain === document.activeElement;
    this.value ||= plain.value;
    this.replaceChildren(); // or a form would send both
    if (hadFocus) this.#input.focus();
  }

  disconnectedCallback() {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#client.cancel();
  }

  attributeChangedCallback(name, _, now) {
    if (name === "value") this.value = now ?? "";
    else this.#name();
  }

  #name() {
    const label = this.getAttribute("label") ?? "Search";
    this.#label.textContent = label;
    this.#label.classList.toggle("hidden", this.hasAttribute("hide-label"));
    this.#input.placeholder = this.getAttribute("placeholder") ?? "";
    this.#list.setAttribute("aria-label", `${label}: completions`);
  }

  #listen() {
    const on = (target, type, does) => target.addEventListener(type, does);
    on(this.#input, "compositionstart", () => (this.#composing = true));
    on(this.#input, "compositionend", () => this.#composed());
    on(this.#input, "input", () => this.#changed());
    on(this.#input, "keydown", (event) => this.#key(event));
    on(this.#input, "focus", () => this.#ask());
    on(this.#input, "click", () => { if (this.#list.hidden) this.#ask(); });
    on(this.#input, "blur", () => this.#left());
    // Before the blur that a press would cause, so that the focus stays in the box; a touch that scrolls is no click.
    on(this.#list, "pointerdown", (event) => event.preventDefault());
    on(this.#list, "mousedown", (event) => event.preventDefault());
    on(this.#list, "pointermove", (event) => this.#choose(this.#rowOf(event), { write: false }));
    on(this.#list, "click", (event) => {
      const row = this.#rowOf(event);
      if (row >= 0) this.#submit(shownAs(this.#completions[row]), this.#completions[row]);
    });
  }

  #rowOf(event) {
    return [...this.#list.children].indexOf(event.target.closest("li"));
  }

  #composed() {
    this.#composing = false;
    this.#changed();
  }

  /** A chosen completion that stands in the box counts as typed once the focus has left it. */
  #left() {
    this.#accepted = this.#completions[this.#active] ?? this.#accepted;
    this.value = this.#input.value;
    this.#close();
  }

  /** Asks during a composition too: a Korean syllable is composed at every key, and its beginning can be completed. */
  #changed() {
    // The end of a composition is told once or twice, after the text itself.
    if (this.#input.value === this.#typed && this.#active < 0) return;
    this.#typed = this.#input.value;
    this.#internals.setFormValue(this.#typed);
    this.#choose(-1, { write: false });
    clearTimeout(this.#timers.ask);
    const delay = Number(this.getAttribute("delay") ?? 0);
    if (delay > 0) this.#timers.ask = setTimeout(() => this.#ask(), delay);
    else this.#ask();
  }

  async #ask() {
    clearTimeout(this.#timers.retry);
    const prefix = this.#typed;
    if (prefix.length < Number(this.getAttribute("min") ?? 0)) {
      this.#client.cancel();
      this.#show([]);
      return;
    }
    this.#configure();
    if (this.#client.server.origin === this.#refusedBy) return;
    const begin = performance.now();
    try {
      const context = this.#context();
      const { completions: found, prefix: echoed } = await this.#client.complete(prefix, context);
      // An answer to something that is no longer in the box is dropped.
      if (echoed !== this.#typed) return;
      const completions = prefix === "" ? this.#withEarlier(context, found) : found;
      this.#failures = 0;
      this.#problem.textContent = "";
      this.#show(this.#hasFocus() ? completions : []);
      this.#tell("halfword-answer", { prefix, completions, milliseconds: performance.now() - begin });
    } catch (failure) {
      if (failure.name !== "AbortError") await this.#failed(prefix, failure);
    }
  }

  #context() {
    return this.dataset.context === "off" ? [] : session.read();
  }

  /** An empty box offers what was searched before, the last query first. */
  #withEarlier(context, completions) {
    const earlier = [...new Set(context.toReversed())].slice(0, MOST_OFFERED);
    const offered = earlier.map((text) => ({ text, score: null, source: "session", corrected: false, highlight: { typed: "", added: text } }));
    const others = completions.filter(({ text }) => !earlier.includes(text));
    return [...offered, ...others].slice(0, this.#client.count);
  }

  #configure() {
    const server = this.getAttribute("server");
    Object.assign(this.#client, {
      server: server ? new URL(server, document.baseURI) : HOME,
      key: this.getAttribute("api-key"),
      count: Number(this.getAttribute("count") ?? 10),
      pad: this.hasAttribute("pad"),
    });
  }

  /** Without completions the box is still a box: say so once, and ask again when that may help. */
  async #failed(prefix, failure) {
    this.#show([]);
    const unreachable = failure instanceof TypeError; // what fetch throws when there is no connection, or no permission
    if (unreachable && (await this.#isRefused(prefix))) return this.#refused(prefix);
    if (!this.isConnected || prefix !== this.#typed) return; // there is a newer question, or none
    this.#problem.textContent = unreachable ? "No completions: the server cannot be reached." : failure.message;
    this.#tell("halfword-failure", { prefix, message: this.#problem.textContent });
    if (unreachable || failure.again) {
      const delay = RETRY_DELAYS[Math.min(this.#failures++, RETRY_DELAYS.length - 1)];
      clearTimeout(this.#timers.retry);
      this.#timers.retry = setTimeout(() => this.#ask(), delay);
    }
  }

  /** A browser does not say why a request failed. A server that is there and fails again refuses this origin. */
  async #isRefused(prefix) {
    if (this.#client.server.origin === location.origin || !(await this.#client.isReachable())) return false;
    return this.#client.complete(prefix, this.#context()).then(() => false, (failure) => failure instanceof TypeError);
  }

  /** The visitor of a page can do nothing about this, so only its author is told. */
  #refused(prefix) {
    const server = this.#client.server.origin;
    if (this.#refusedBy === server) return;
    this.#refusedBy = server;
    this.#problem.textContent = "";
    const message = `${server} gives no completions to ${location.origin}; start it with --allow-origin ${location.origin}`;
    console.warn(`halfword-search: ${message}`);
    this.#tell("halfword-failure", { prefix, message });
  }

  #hasFocus() {
    return this.shadowRoot.activeElement === this.#input;
  }

  #show(completions) {
    this.#completions = completions;
    this.#choose(-1, { write: false });
    this.#list.replaceChildren(...completions.map((completion, row) => this.#row(completion, row)));
    this.#expand(completions.length > 0);
    clearTimeout(this.#timers.say);
    this.#timers.say = setTimeout(() => {
      const count = this.#completions.length;
      this.#status.textContent = this.#list.hidden ? "" : `${count} completion${count === 1 ? "" : "s"}`;
    }, LIVE_REGION_DELAY);
  }

  #row({ highlight, score, source, corrected }, row) {
    const item = make("li", { id: `row-${this.#number}-${row}` });
    setAttributes(item, { role: "option", "aria-selected": "false" });
    const text = make("span");
    // The typed part is known already; what is new stands out.
    text.append(highlight.typed, make("b", { textContent: highlight.added }));
    item.append(text);
    if (corrected) {
      item.dataset.corrected = "";
      item.append(make("small", { textContent: "corrected" })); // read out with the suggestion
    }
    if (this.hasAttribute("details")) {
      const chance = score === null ? "" : `${(100 * Math.exp(score)).toPrecision(2)} % · `;
      item.append(make("small", { textContent: `${chance}${source}` }));
    }
    return item;
  }

  #expand(open) {
    this.#list.hidden = !open;
    this.#input.setAttribute("aria-expanded", String(open));
  }

  #close() {
    this.#choose(-1, { write: false });
    this.#expand(false);
    clearTimeout(this.#timers.retry);
  }

  /** Make a row the chosen one; -1 goes back to what was typed. */
  #choose(row, { write }) {
    if (row === this.#active && !write) return;
    this.#list.children[this.#active]?.setAttribute("aria-selected", "false");
    this.#active = row;
    const item = this.#list.children[row];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.#input.setAttribute("aria-activedescendant", item.id);
    else this.#input.removeAttribute("aria-activedescendant");
    if (write) {
      this.#input.value = row < 0 ? this.#typed : shownAs(this.#completions[row]);
      this.#internals.setFormValue(this.#input.value);
    }
  }

  #key(event) {
    // Enter and Escape of an input method belong to it; 229 is what older browsers say of such keys.
    if (this.#composing || event.isComposing || event.keyCode === 229) return;
    const act = {
      ArrowDown: () => this.#arrow(1, event.altKey),
      ArrowUp: () => this.#arrow(-1, event.altKey),
      Enter: () => this.#enter(),
      Escape: () => this.#escape(),
      [this.#forwardKey()]: () => this.#accept(event),
      End: () => this.#accept(event),
    }[event.key];
    if (act?.()) event.preventDefault();
  }

  #arrow(step, alt) {
    if (alt) {
      if (step > 0) this.#ask();
      else this.#close();
    } else if (this.#list.hidden) {
      this.#ask();
    } else {
      const stops = this.#completions.length + 1; // the box itself is one of them
      this.#choose(((this.#active + 1 + step + stops) % stops) - 1, { write: true });
    }
    return true;
  }

  #enter() {
    const query = this.#input.value;
    // A row under the mouse is not in the box, and an accepted completion may have been edited.
    const candidates = [this.#completions[this.#active], this.#accepted];
    this.#submit(query, candidates.find((completion) => shownAs(completion) === query) ?? null);
    return true;
  }

  /** The first press closes the list, the second empties the box, the third is for the page, such as a dialog. */
  #escape() {
    if (this.#list.hidden && this.value === "") return false;
    if (this.#list.hidden) this.value = "";
    else this.#choose(-1, { write: true });
    this.#client.cancel();
    this.#close();
    return true;
  }

  #forwardKey() {
    return getComputedStyle(this.#input).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  }

  /** At the end of the text, accept the chosen completion, or the first, and go on typing. */
  #accept({ shiftKey, ctrlKey, altKey, metaKey }) {
    const { selectionStart, selectionEnd, value } = this.#input;
    const atEnd = selectionStart === value.length && selectionEnd === value.length;
    if (this.#list.hidden || !atEnd || shiftKey || ctrlKey || altKey || metaKey) return false;
    const completion = this.#completions[Math.max(this.#active, 0)];
    if (shownAs(completion) === this.#typed) return false;
    this.#accepted = completion;
    this.value = shownAs(completion);
    this.#ask();
    return true;
  }

  #submit(query, completion) {
    this.value = query;
    this.#client.cancel();
    this.#close();
    if (this.dataset.context !== "off") session.add(query);
    // What was searched before in this tab has no score, and is not the server's suggestion.
    if (this.dataset.accepted === "on" && (completion?.score ?? null) !== null) this.#client.accepted(completion.text);
    if (!this.#tell("halfword-submit", { query, completion })) return;
    const action = this.getAttribute("action");
    if (action !== null) {
      const address = new URL(action, document.baseURI);
      address.searchParams.set(this.getAttribute("name") ?? "q", query);
      location.assign(address);
    } else {
      this.#internals.form?.requestSubmit();
    }
  }

  #tell(type, detail) {
    return this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true }));
  }
}

/** How a completion is written in the box: with the capitals that most people give it. */
function shownAs(completion) {
  return completion?.display ?? completion?.text;
}

function make(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

customElements.define("halfword-search", HalfwordSearch);
