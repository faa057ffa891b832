// Halfword as a source of Algolia's autocomplete: `getSources({ query }) { return [halfwordSource({ source, query })] }`,
// or as a plugin: `autocomplete({ plugins: [halfwordPlugin({ source })] })`.

/** @typedef {import("./server.js").Source} Source */
/** @typedef {import("./server.js").Suggestion} Suggestion */
/**
 * @typedef {object} Options
 * @property {Source} source a model from `load`, or a `Server`
 * @property {string} [sourceId]
 * @property {number} [count]
 * @property {() => string[]} [context] what was searched before, the oldest first
 */

/**
 * A plugin that adds one source of completions.
 * @param {Options} options
 */
export function halfwordPlugin(options) {
  return {
    name: "halfword",
    getSources: (/** @type {{query: string}} */ { query }) => [halfwordSource({ ...options, query })],
  };
}

/**
 * A source; choosing a completion puts it into the box.
 * @param {Options & {query: string}} options
 */
export function halfwordSource({ source, query, sourceId = "halfword", count = 10, context = () => [] }) {
  return {
    sourceId,
    getItems: () => source.complete(query, { count, context: context() }),
    getItemInputValue: (/** @type {{item: Suggestion}} */ { item }) => item.display ?? item.text,
    templates: {
      item: (/** @type {{item: Suggestion, html: Function}} */ { item, html }) => {
        const { matched = 0 } = item;
        const shown = item.display ?? item.text;
        return html`<div class="aa-ItemWrapper">${shown.slice(0, matched)}<b>${shown.slice(matched)}</b></div>`;
      },
    },
  };
}
