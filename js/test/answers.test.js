// The engine in JavaScript answers as the one in Python does: `python -m tests.questions FOLDER` wrote what to expect.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { load, normalisePrefix, normaliseQuery } from "../dist/index.js";

const FILE =
  process.env.HALFWORD_ANSWERS ?? fileURLToPath(new URL("../../build/answers/answers.json", import.meta.url));
if (!existsSync(FILE)) throw new Error(`${FILE} is missing; make it with: python -m tests.questions build/answers`);
const CLOSE = 1e-4; // how far two scores may be apart
const { texts, models } = JSON.parse(readFileSync(FILE, "utf8"));

test("texts are normalised as in Python", () => {
  for (const { text, profile, prefix, query } of texts) {
    assert.equal(normalisePrefix(text, profile), prefix, JSON.stringify(text));
    assert.equal(normaliseQuery(text, profile), query, JSON.stringify(text));
  }
});

/**
 * Load a model with the engine for machines that have 128-bit vectors, or with the one for those that have none.
 * @param {string} path
 * @param {string} kernels
 */
async function loadWith(path, kernels) {
  const { validate } = WebAssembly; // by which the engine is chosen, before anything is waited for
  WebAssembly.validate = () => kernels === "simd128";
  const loading = load(path);
  WebAssembly.validate = validate;
  const model = await loading;
  assert.equal(model.about.kernels, kernels);
  return model;
}

for (const { path, questions } of models) {
  for (const kernels of ["simd128", "portable"]) {
    describe(`${path.split("/").at(-1)}, ${kernels}`, async () => {
      const model = await loadWith(path, kernels);
      test(`${questions.length} questions have the same answers`, async () => {
        for (const { prefix, context, options, answer } of questions) {
          const asked = JSON.stringify({ prefix, context, options });
          const found = await model.complete(prefix, { context, ...options });
          const rows = found.map(({ text, score, source, display, corrected, matched }) => {
            return [text, score, source, display, corrected, [...text.slice(0, matched)].length];
          });
          const sorted = (list) => list.map(([text, , ...others]) => [text, ...others].join("|")).sort();
          assert.deepEqual(sorted(rows), sorted(answer), asked);
          rows.forEach(([text, score], place) => {
            const expected = answer.find((each) => each[0] === text)[1];
            assert.ok(Math.abs(score - expected) < CLOSE, `${asked}: ${rows[place]}, expected ${expected}`);
            // Only those that are as good as equally likely may change places.
            assert.ok(text === answer[place][0] || Math.abs(expected - answer[place][1]) < CLOSE, `${asked}: ${text}`);
          });
        }
      });
    });
  }
}
