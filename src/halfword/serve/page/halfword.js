// The Halfword search box: a custom element without dependencies. On any page:
//
//   <script type="module" src="https://your.server/halfword.js"></script>
//   <halfword-search label="Search" name="q" action="/search"></halfword-search>
//
// An <input> inside the element is the search box until this file is loaded, and stays it if the file cannot be loaded.
// To give completions to an input that you have, see combobox.js.
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
//   model        the address of a model that completes in the page, without a server; only in the npm package
//   server       the server to ask, default the one that this file came from
//   api-key      sent as Authorization: Bearer
//   pad          hide the length of what is typed from those who see the encrypted traffic
//   details      show score and source of each completion
//   data-context="off"  forget what was searched; otherwise the last ten queries of this browser tab stay in its
//                sessionStorage, are given with each question, and are offered while the box is empty.
//                "device" keeps them for later visits, in localStorage
//   data-accepted="on"  tell the server which of its suggestions are chosen; it must be started with --live-accepted
//
// Events, which bubble: `halfword-answer` {prefix, completions, milliseconds}, `halfword-failure` {prefix, message},
// `halfword-submit` {query, completion}; preventing the last one keeps `action` from being opened. With `model` there are
// also `halfword-progress` {loaded, total} and `halfword-ready` {about}.

import { Combobox, make, makeSheet } from "./combobox.js";
import { Server } from "./server.js";

/** @typedef {import("./server.js").Source} Source */

const HOME = new URL(".", import.meta.url);

const BOX = makeSheet(`
  :host { display: block; position: relative; font: inherit; color-scheme: light dark;
    --halfword-ink: light-dark(#1b1c1e, #ececee); --halfword-paper: light-dark(#fff, #1e2024);
    --halfword-faint: light-dark(#5a5e66, #a9aeb8); --halfword-line: light-dark(#8b9099, #6c727c);
    --halfword-active: light-dark(#e3ecfd, #2c3a52); --halfword-accent: light-dark(#1a56c4, #8ab4f8); }
  * { box-sizing: border-box; }
  label { display: block; margin-block-end: .35em; font-weight: 600; }
  div { position: relative; }
  input { unicode-bidi: plaintext; inline-size: 100%; min-block-size: 2.75rem; padding: .5em .75em; font: inherit; color: var(--halfword-ink);
    background: var(--halfword-paper); border: 1px solid var(--halfword-line); border-radius: .5em; }
  input:focus { outline: 2px solid var(--halfword-accent); outline-offset: 1px; }
  p.halfword-problem { position: static; background: none; }
`);

/** The element <halfword-search>. */
export class HalfwordSearch extends HTMLElement {
  static formAssociated = true;
  static observedAttributes = ["label", "placeholder", "value"];

  #internals = this.attachInternals();
  #label = make("label", { htmlFor: "box" });
  #input = make("input", { id: "box", type: "text" });
  #combobox;
  /** @type {{asked: string, source: Source} | null} */
  #source = null; // what the attributes asked for when it was made

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [BOX];
    const box = make("div");
    box.append(this.#input);
    root.append(this.#label, box);
    this.#combobox = new Combobox(this.#input, this.#options());
  }

  /** Attributes may change at any time, so each is read when it is needed. */
  #options() {
    const element = this;
    return {
      get source() {
        return element.#currentSource();
      },
      get count() {
        return Number(element.getAttribute("count") ?? 10);
      },
      get min() {
        return Number(element.getAttribute("min") ?? 0);
      },
      get delay() {
        return Number(element.getAttribute("delay") ?? 0);
      },
      get remember() {
        const { context = "tab" } = element.dataset;
        return /** @type {"tab" | "device" | "off"} */ (context);
      },
      get tellAccepted() {
        return element.dataset.accepted === "on";
      },
      get details() {
        return element.hasAttribute("details");
      },
      label: "Search",
      events: this,
      submit: (/** @type {string} */ query) => this.#submit(query),
      changed: (/** @type {string} */ text) => this.#internals.setFormValue(text),
    };
  }

  get value() {
    return this.#input.value;
  }

  set value(text) {
    this.#combobox.value = text;
    this.#internals.setFormValue(text);
  }

  connectedCallback() {
    this.#name();
    this.value ||= this.getAttribute("value") ?? "";
    this.#replacePlainInput();
    // What stands inside the element may not have been read yet.
    if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", () => this.#replacePlainInput(), { once: true });
    }
    if (this.hasAttribute("model")) this.#currentSource(); // begins to load
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
    this.#combobox.cancel();
  }

  /**
   * @param {string} name
   * @param {string | null} _
   * @param {string | null} now
   */
  attributeChangedCallback(name, _, now) {
    if (name === "value") this.value = now ?? "";
    else this.#name();
  }

  #name() {
    const label = this.getAttribute("label") ?? "Search";
    this.#label.textContent = label;
    this.#label.classList.toggle("halfword-hidden", this.hasAttribute("hide-label"));
    this.#input.placeholder = this.getAttribute("placeholder") ?? "";
    this.#combobox.name(label);
  }

  /** @returns {Source} */
  #currentSource() {
    const asked = JSON.stringify(["model", "server", "api-key", "pad"].map((name) => this.getAttribute(name)));
    if (this.#source?.asked !== asked) this.#source = { asked, source: this.#makeSource() };
    return this.#source.source;
  }

  /** @returns {Source} */
  #makeSource() {
    const model = this.getAttribute("model");
    if (model !== null) return this.#modelSource(model);
    const server = this.getAttribute("server");
    return new Server({
      server: server === null ? HOME : new URL(server, document.baseURI),
      key: this.getAttribute("api-key"),
      pad: this.hasAttribute("pad"),
    });
  }

  /**
   * A model in the page; who asks before it is there waits for it.
   * @param {string} address
   * @returns {Source}
   */
  #modelSource(address) {
    const tell = (/** @type {string} */ type, /** @type {object} */ detail) =>
      this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
    // The server has no such file; nobody who asks a server loads the engine.
    const loading = import("./load.js").then(({ load }) =>
      load(address, { onProgress: (progress) => tell("halfword-progress", progress) }),
    );
    loading.then(
      ({ about }) => tell("halfword-ready", { about }),
      (error) => tell("halfword-failure", { prefix: "", message: error.message }),
    );
    return {
      complete: async (prefix, asked) => {
        const model = await loading;
        return model.complete(prefix, asked);
      },
    };
  }

  /** @param {string} query */
  #submit(query) {
    const action = this.getAttribute("action");
    if (action === null) {
      this.#internals.form?.requestSubmit();
      return;
    }
    const address = new URL(action, document.baseURI);
    address.searchParams.set(this.getAttribute("name") ?? "q", query);
    location.assign(address);
  }
}

if (!customElements.get("halfword-search")) customElements.define("halfword-search", HalfwordSearch);
