// Completions for an <input>, as the WAI-ARIA combobox pattern has them:
//
//   attach(document.querySelector("#search"), { source: "https://your.server/" });
//
// Keys: the arrows up and down choose, Enter submits, Escape closes the list and then empties the box, Tab moves on.
// At the end of the text, the right arrow (in right-to-left text the left one) or End accepts and goes on typing.
//
// Events at the input, which bubble: `halfword-answer` {prefix, completions, milliseconds}, `halfword-failure`
// {prefix, message}, `halfword-submit` {query, completion}; preventing the last one keeps the form from being sent.

import { Server, SourceError } from "./server.js";

/** @typedef {import("./server.js").Suggestion} Suggestion */
/** @typedef {import("./server.js").Source} Source */
/**
 * @typedef {object} Options
 * @property {string | URL | Source} source the address of a server, or a model from `load`
 * @property {number} [count] completions shown, default 10
 * @property {number} [min] characters from which on completions are shown, default 0: an empty box shows the most popular
 * @property {number} [delay] milliseconds to wait for the next key before asking, default 0
 * @property {"tab" | "device" | "off"} [remember] where the last searches are kept: in this tab (the default), on this
 *   device, or nowhere. They are given to the source as context, and offered while the box is empty
 * @property {boolean} [tellAccepted] tell the source which of its suggestions are chosen; a server must be started with
 *   --live-accepted
 * @property {boolean} [details] show probability and source of each completion
 * @property {string} [label] what the list is called; default the label of the input
 * @property {EventTarget} [events] where events are told; default the input
 * @property {(query: string) => void} [submit] called with what is searched; default: the form is sent
 * @property {(text: string) => void} [changed] called when the text in the box changes
 */

const LIVE_REGION_DELAY = 700; // a screen reader is not interrupted at every key
const RETRY_DELAYS = [500, 1000, 2000, 4000];
const KEPT = "halfword-session"; // the key in the storage
const MOST_EARLIER = 10; // queries that are kept and sent
const LONGEST_EARLIER = 200; // characters; a longer text is no query
const MOST_OFFERED = 5; // earlier queries in the list of an empty box
const RIGHT_TO_LEFT = /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

const STYLE = `
  .halfword-list, .halfword-problem { --ink: var(--halfword-ink, light-dark(#1b1c1e, #ececee));
    --paper: var(--halfword-paper, light-dark(#fff, #1e2024)); --faint: var(--halfword-faint, light-dark(#5a5e66, #a9aeb8));
    --line: var(--halfword-line, light-dark(#8b9099, #6c727c)); --active: var(--halfword-active, light-dark(#e3ecfd, #2c3a52)); }
  .halfword-list { position: absolute; z-index: 10; box-sizing: border-box; margin: .25em 0 0; padding: .25em 0;
    list-style: none; text-align: start; color: var(--ink); background: var(--paper); border: 1px solid var(--line);
    border-radius: .5em; box-shadow: 0 .4em 1.2em #0003; max-block-size: 75vh; overflow-y: auto; }
  .halfword-list[hidden] { display: none; }
  .halfword-list > li { display: flex; flex-wrap: wrap; gap: 0 1em; justify-content: space-between; align-items: baseline;
    margin: 0; padding: .45em .75em; list-style: none; cursor: pointer; overflow-wrap: anywhere; }
  .halfword-list > li::marker { content: none; }
  .halfword-list > li[aria-selected="true"] { background: var(--active); }
  .halfword-list > li[data-source="session"] > span::before { content: "↺ "; content: "↺ " / "from your searches: "; color: var(--faint); }
  .halfword-list b { font-weight: 700; }
  .halfword-list small { color: var(--faint); font-variant-numeric: tabular-nums; }
  .halfword-problem { position: absolute; margin: .4em 0 0; color: var(--faint); background: var(--paper); font-size: .875em; }
  .halfword-problem:empty { display: none; }
  .halfword-hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%);
    white-space: nowrap; margin: 0; }
`;
/** @type {CSSStyleSheet | undefined} */
let sheet; // made when it is needed: where there is no page, there are no style sheets

let instances = 0;

/**
 * Give an input completions.
 * @param {HTMLInputElement} input
 * @param {Options} options may have getters: each is read when it is needed
 */
export function attach(input, options) {
  return new Combobox(input, options);
}

/** An input with a list of completions. */
export class Combobox {
  #number = (instances += 1);
  #list = make("ul", { id: `halfword-list-${this.#number}`, className: "halfword-list", hidden: true });
  #status = make("div", { className: "halfword-hidden" });
  #problem = make("p", { className: "halfword-problem" });
  /** @type {Suggestion[]} */
  #completions = [];
  #active = -1; // the completion that is chosen, or -1 for what was typed
  /** @type {Suggestion | null} */
  #accepted = null; // the completion that was last put into the box
  #typed = "";
  #composing = false;
  #writing = false;
  /** @type {Record<"ask" | "say" | "retry", ReturnType<typeof setTimeout> | undefined>} */
  #timers = { ask: undefined, say: undefined, retry: undefined };
  #failures = 0;
  #warned = "";
  #asking = new AbortController();
  #attached = new AbortController();
  /** @type {{address: string, server: Server} | null} */
  #server = null;

  /**
   * @param {HTMLInputElement} input
   * @param {Options} options
   */
  constructor(input, options) {
    this.input = input;
    this.options = options;
    this.#typed = input.value;
    adoptStyle(input);
    setAttributes(input, {
      ...{ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.#list.id },
      ...{ autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "search" },
    });
    setAttributes(this.#list, { role: "listbox" });
    setAttributes(this.#status, { role: "status", "aria-live": "polite" });
    this.name(options.label ?? labelOf(input));
    input.after(this.#list, this.#status, this.#problem);
    this.#listen();
    if (this.#hasFocus()) this.#ask();
  }

  get value() {
    return this.input.value;
  }

  set value(text) {
    this.#typed = text;
    this.#write(text);
  }

  /**
   * Call the list after the box.
   * @param {string} label
   */
  name(label) {
    this.#list.setAttribute("aria-label", `${label}: completions`);
  }

  /** Stop asking; the input stays as it is. */
  cancel() {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#asking.abort();
  }

  /** Leave the input as it was found. */
  detach() {
    this.cancel();
    this.#attached.abort();
    for (const part of [this.#list, this.#status, this.#problem]) part.remove();
    for (const name of ["role", "aria-autocomplete", "aria-expanded", "aria-controls", "aria-activedescendant"]) {
      this.input.removeAttribute(name);
    }
  }

  #listen() {
    const { signal } = this.#attached;
    /** @type {(target: EventTarget, type: string, does: (event: any) => void) => void} */
    const on = (target, type, does) => target.addEventListener(type, does, { signal });
    on(this.input, "compositionstart", () => (this.#composing = true));
    on(this.input, "compositionend", () => this.#composed());
    on(this.input, "input", () => this.#changed());
    on(this.input, "keydown", (event) => this.#key(event));
    on(this.input, "focus", () => this.#ask());
    on(this.input, "click", () => {
      if (this.#list.hidden) this.#ask();
    });
    on(this.input, "blur", () => this.#left());
    // Before the blur that a press would cause, so that the focus stays in the box; a touch that scrolls is no click.
    on(this.#list, "pointerdown", (event) => event.preventDefault());
    on(this.#list, "mousedown", (event) => event.preventDefault());
    on(this.#list, "pointermove", (event) => this.#choose(this.#rowOf(event), { write: false }));
    on(this.#list, "click", (event) => {
      const row = this.#rowOf(event);
      if (row >= 0) this.#submit(shownAs(this.#completions[row]), this.#completions[row]);
    });
  }

  /** @param {{target: Element}} event */
  #rowOf({ target }) {
    const item = target.closest("li");
    return item === null ? -1 : [...this.#list.children].indexOf(item);
  }

  #composed() {
    this.#composing = false;
    this.#changed();
  }

  /** A chosen completion that stands in the box counts as typed once the focus has left it. */
  #left() {
    this.#accepted = this.#completions[this.#active] ?? this.#accepted;
    this.#typed = this.input.value;
    this.#close();
  }

  /** Asks during a composition too: a Korean syllable is composed at every key, and its beginning can be completed. */
  #changed() {
    if (this.#writing) return;
    // The end of a composition is told once or twice, after the text itself.
    if (this.input.value === this.#typed && this.#active < 0) return;
    this.#typed = this.input.value;
    this.options.changed?.(this.#typed);
    this.#choose(-1, { write: false });
    clearTimeout(this.#timers.ask);
    const delay = this.options.delay ?? 0;
    if (delay > 0) this.#timers.ask = setTimeout(() => this.#ask(), delay);
    else this.#ask();
  }

  async #ask() {
    clearTimeout(this.#timers.retry);
    this.#asking.abort();
    const { signal } = (this.#asking = new AbortController());
    const prefix = this.#typed;
    if (prefix.length < (this.options.min ?? 0)) return this.#show([]);
    const begin = performance.now();
    const context = this.#earlier();
    const count = this.options.count ?? 10;
    try {
      const found = await this.#source().complete(prefix, { context, count, signal });
      if (prefix !== this.#typed || signal.aborted) return; // what is no longer in the box
      const completions = prefix === "" ? withEarlier(context, found, count) : [...found];
      this.#failures = 0;
      this.#problem.textContent = "";
      this.#show(this.#hasFocus() ? completions : []);
      this.#tell("halfword-answer", { prefix, completions, milliseconds: performance.now() - begin });
    } catch (failure) {
      if (!signal.aborted && /** @type {Error} */ (failure).name !== "AbortError") this.#failed(prefix, failure);
    }
  }

  /** @returns {Source} */
  #source() {
    const { source } = this.options;
    if (typeof source !== "string" && !(source instanceof URL)) return source;
    const address = new URL(source, document.baseURI).href;
    if (this.#server?.address !== address) this.#server = { address, server: new Server({ server: address }) };
    return this.#server.server;
  }

  #storage() {
    const { remember = "tab" } = this.options;
    return remember === "off" ? null : remember === "device" ? localStorage : sessionStorage;
  }

  /** What was searched before, the oldest first. It never leaves the page but with a question to a server. */
  #earlier() {
    try {
      const kept = JSON.parse(this.#storage()?.getItem(KEPT) ?? "[]");
      return Array.isArray(kept) ? kept.filter((query) => typeof query === "string").slice(-MOST_EARLIER) : [];
    } catch {
      return []; // storage may be forbidden, or hold what another script wrote
    }
  }

  /** @param {string} query */
  #remember(query) {
    if (query.trim() === "" || query.length > LONGEST_EARLIER) return;
    try {
      this.#storage()?.setItem(KEPT, JSON.stringify([...this.#earlier(), query].slice(-MOST_EARLIER)));
    } catch {
      // Without storage there is no context.
    }
  }

  /**
   * Without completions the box is still a box: say so once, and ask again when that may help.
   * @param {string} prefix
   * @param {any} failure
   */
  #failed(prefix, failure) {
    if (!this.input.isConnected || prefix !== this.#typed) return; // there is a newer question, or none
    this.#show([]);
    const { message } = failure;
    const told = failure instanceof SourceError ? !failure.forAuthor : false;
    this.#problem.textContent = told ? message : "";
    if (!told) {
      if (this.#warned === message) return; // the visitor of a page can do nothing about it
      this.#warned = message;
      console.warn(`halfword-search: ${message}`);
    }
    this.#tell("halfword-failure", { prefix, message });
    if (failure.again) {
      const delay = RETRY_DELAYS[Math.min(this.#failures++, RETRY_DELAYS.length - 1)];
      this.#timers.retry = setTimeout(() => this.#ask(), delay);
    }
  }

  #hasFocus() {
    return /** @type {Document | ShadowRoot} */ (this.input.getRootNode()).activeElement === this.input;
  }

  /** @param {Suggestion[]} completions */
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

  /**
   * @param {Suggestion} completion
   * @param {number} row
   */
  #row(completion, row) {
    const { score = null, source = "", corrected } = completion;
    const item = make("li", { id: `halfword-row-${this.#number}-${row}` });
    setAttributes(item, { role: "option", "aria-selected": "false", "data-source": source, dir: "auto" });
    const text = make("span");
    // The typed part is known already; what is new stands out.
    const { typed, added } = highlightOf(completion);
    text.append(typed, make("b", { textContent: added }));
    item.append(text);
    if (corrected) {
      item.dataset.corrected = "";
      item.append(make("small", { textContent: "corrected" })); // read out with the suggestion
    }
    if (this.options.details) {
      const chance = score === null ? "" : `${(100 * Math.exp(score)).toPrecision(2)} % · `;
      item.append(make("small", { textContent: `${chance}${source}` }));
    }
    return item;
  }

  /** @param {boolean} open */
  #expand(open) {
    this.#list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    if (!open) return;
    // Both are placed in the same box, so that the list follows the input wherever the page moves it.
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = this.input;
    for (const part of [this.#list, this.#problem]) {
      Object.assign(part.style, {
        left: `${offsetLeft}px`,
        top: `${offsetTop + offsetHeight}px`,
        width: `${offsetWidth}px`,
      });
    }
  }

  #close() {
    this.#choose(-1, { write: false });
    this.#expand(false);
    clearTimeout(this.#timers.retry);
  }

  /**
   * Make a row the chosen one; -1 goes back to what was typed.
   * @param {number} row
   * @param {{write: boolean}} how
   */
  #choose(row, { write }) {
    if (row === this.#active && !write) return;
    this.#list.children[this.#active]?.setAttribute("aria-selected", "false");
    this.#active = row;
    const item = this.#list.children[row];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.input.setAttribute("aria-activedescendant", item.id);
    else this.input.removeAttribute("aria-activedescendant");
    if (write) this.#write(row < 0 ? this.#typed : shownAs(this.#completions[row]));
  }

  /**
   * Put a text into the box, and tell it as if it had been typed: a framework that holds the value wants to know.
   * @param {string} text
   */
  #write(text) {
    if (this.input.value === text) return;
    // React puts a setter of its own on each input, which would hide the change from it.
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value") ?? {};
    this.#writing = true;
    set?.call(this.input, text);
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
    this.#writing = false;
    this.options.changed?.(text);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    // Enter and Escape of an input method belong to it; 229 is what older browsers say of such keys.
    if (this.#composing || event.isComposing || event.keyCode === 229) return;
    /** @type {Record<string, () => boolean>} */
    const acts = {
      ArrowDown: () => this.#arrow(1, event.altKey),
      ArrowUp: () => this.#arrow(-1, event.altKey),
      Enter: () => this.#enter(),
      Escape: () => this.#escape(),
      [this.#forwardKey()]: () => this.#accept(event),
      End: () => this.#accept(event),
    };
    if (acts[event.key]?.()) event.preventDefault();
  }

  /**
   * @param {number} step
   * @param {boolean} alt
   */
  #arrow(step, alt) {
    if (alt) {
      if (step > 0) this.#ask();
      else this.#close();
    } else if (this.#list.hidden) {
      this.#ask();
    } else {
      this.cancel(); // an answer that comes now would replace the rows under the person who walks through them
      const stops = this.#completions.length + 1; // the box itself is one of them
      this.#choose(((this.#active + 1 + step + stops) % stops) - 1, { write: true });
    }
    return true;
  }

  #enter() {
    const query = this.input.value;
    // A row under the mouse is not in the box, and an accepted completion may have been edited.
    const candidates = [this.#completions[this.#active], this.#accepted];
    this.#submit(query, candidates.find((completion) => completion && shownAs(completion) === query) ?? null);
    return true;
  }

  /** The first press closes the list, the second empties the box, the third is for the page, such as a dialog. */
  #escape() {
    if (this.#list.hidden && this.value === "") return false;
    if (this.#list.hidden) this.value = "";
    else this.#choose(-1, { write: true });
    this.#asking.abort();
    this.#close();
    return true;
  }

  #forwardKey() {
    const { direction, unicodeBidi } = getComputedStyle(this.input);
    const byText = unicodeBidi === "plaintext" && /\p{L}/u.test(this.input.value);
    const goesLeft = byText ? RIGHT_TO_LEFT.test(this.input.value) : direction === "rtl";
    return goesLeft ? "ArrowLeft" : "ArrowRight";
  }

  /**
   * At the end of the text, accept the chosen completion, or the first, and go on typing.
   * @param {KeyboardEvent} event
   */
  #accept({ shiftKey, ctrlKey, altKey, metaKey }) {
    const { selectionStart, selectionEnd, value } = this.input;
    const atEnd = selectionStart === value.length && selectionEnd === value.length;
    if (this.#list.hidden || !atEnd || shiftKey || ctrlKey || altKey || metaKey) return false;
    const completion = this.#completions[Math.max(this.#active, 0)];
    if (shownAs(completion) === this.#typed) return false;
    this.#accepted = completion;
    this.value = shownAs(completion);
    this.#ask();
    return true;
  }

  /**
   * @param {string} query
   * @param {Suggestion | null} completion
   */
  #submit(query, completion) {
    this.value = query;
    this.#asking.abort();
    this.#close();
    this.#remember(query);
    // What was searched before has no score, and is not the source's suggestion.
    if (this.options.tellAccepted && completion && (completion.score ?? null) !== null) {
      this.#source().accepted?.(completion.text);
    }
    if (!this.#tell("halfword-submit", { query, completion })) return;
    if (this.options.submit) this.options.submit(query);
    else this.input.form?.requestSubmit();
  }

  /**
   * @param {string} type
   * @param {object} detail
   */
  #tell(type, detail) {
    const event = new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true });
    return (this.options.events ?? this.input).dispatchEvent(event);
  }
}

/**
 * An empty box offers what was searched before, the last query first.
 * @param {string[]} context
 * @param {Suggestion[]} completions
 * @param {number} count
 * @returns {Suggestion[]}
 */
function withEarlier(context, completions, count) {
  const earlier = [...new Set(context.toReversed())].slice(0, MOST_OFFERED);
  const offered = earlier.map((text) => ({ text, score: null, source: "session", corrected: false, matched: 0 }));
  const others = completions.filter(({ text }) => !earlier.includes(text));
  return [...offered, ...others].slice(0, count);
}

/**
 * How a completion is written in the box: with the capitals that most people give it.
 * @param {Suggestion} completion
 */
function shownAs(completion) {
  return completion.display ?? completion.text;
}

/** @param {Suggestion} completion */
function highlightOf(completion) {
  const { highlight, matched = 0 } = completion;
  const shown = shownAs(completion);
  return highlight ?? { typed: shown.slice(0, matched), added: shown.slice(matched) };
}

/** @param {HTMLInputElement} input */
function labelOf(input) {
  return input.getAttribute("aria-label") ?? input.labels?.[0]?.textContent?.trim() ?? "Search";
}

/** @param {HTMLInputElement} input */
function adoptStyle(input) {
  const root = /** @type {Document | ShadowRoot} */ (input.getRootNode());
  sheet ??= makeSheet(STYLE);
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [sheet, ...root.adoptedStyleSheets];
}

/** @param {string} rules */
export function makeSheet(rules) {
  const made = new CSSStyleSheet();
  made.replaceSync(rules);
  return made;
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Partial<HTMLElementTagNameMap[Name]>} properties
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}

/**
 * @param {Element} element
 * @param {Record<string, string>} attributes
 */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
