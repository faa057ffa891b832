// The package: models that complete in the page (or in Node), and the search box for an input of yours.

export { attach, Combobox } from "./combobox.js";
export { load } from "./load.js";
export { Server, SourceError } from "./server.js";
export { normalisePrefix, normaliseQuery } from "./text.js";
