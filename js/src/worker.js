// The Web Worker that holds a model: it loads it, then answers one question after the other.

import { loadHere } from "./load.js";

/** @type {import("./model.js").Model | undefined} */
let model;

/** @param {any} question */
async function answer(question) {
  if ("load" in question) {
    const onProgress = (/** @type {object} */ progress) => postMessage({ progress });
    model = await loadHere(question.load, { ...question.settings, onProgress });
    return model.about;
  }
  if (!model) throw new Error("no model is loaded");
  if ("memory" in question) return model.memory;
  const found = model.complete(question.complete, question.asked);
  return [[...found], found.timedOut];
}

addEventListener("message", ({ data }) => {
  answer(data).then(
    (told) => postMessage({ answer: told }),
    ({ name, message }) => postMessage({ error: { name, message } }),
  );
});
