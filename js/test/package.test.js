// What needs no model: options, headers, and the shape that Algolia's autocomplete wants.

import assert from "node:assert/strict";
import { test } from "node:test";

import { halfwordPlugin } from "../dist/algolia.js";
import { load } from "../dist/index.js";
import { readHeader } from "../dist/model-file.js";
import { engineOptions } from "../dist/options.js";

test("an option that is unknown, or out of its limits, is refused by name", () => {
  assert.throws(() => engineOptions({ cuont: 3 }), /unknown option cuont; the options are: count, beam/u);
  assert.throws(() => engineOptions({ count: 0 }), /count must lie between 1 and 1000, got 0/u);
  assert.throws(() => engineOptions({ count: 1.5 }), /count must be a whole number, got 1.5/u);
  assert.throws(() => engineOptions({ invent: "often" }), /invent must be one of never, careful, freely, got "often"/u);
  assert.throws(() => engineOptions({ fold: 1 }), /fold must be true or false, got 1/u);
  assert.equal(engineOptions({ min_probability: null }).min_probability, -1);
});

test("a file that is no model is refused", () => {
  const told = (/** @type {Uint8Array} */ bytes) => assert.throws(() => readHeader(bytes), { name: "ModelFileError" });
  for (const text of ["", "short", "x".repeat(100)]) told(new TextEncoder().encode(text));
  const header = new TextEncoder().encode("12345678{}");
  new DataView(header.buffer).setBigUint64(0, 2n, true);
  assert.throws(() => readHeader(header), /of another program/u);
});

test("a path that is not there is told", async () => {
  await assert.rejects(load("no such file.halfword"), /no such file/u);
});

test("Algolia's autocomplete gets a source", async () => {
  const asked = [];
  const source = {
    complete: async (prefix, { count, context }) => {
      asked.push([prefix, count, context]);
      return [{ text: "new york", display: "New York", matched: 6 }];
    },
  };
  const plugin = halfwordPlugin({ source, count: 3, context: () => ["hotels"] });
  const [made] = plugin.getSources({ query: "new yo" });
  const [item] = await made.getItems();
  assert.deepEqual(asked, [["new yo", 3, ["hotels"]]]);
  assert.equal(made.getItemInputValue({ item }), "New York");
  const html = (strings, ...values) => String.raw({ raw: strings }, ...values);
  assert.equal(made.templates.item({ item, html }), '<div class="aa-ItemWrapper">New Yo<b>rk</b></div>');
});
