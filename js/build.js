// npm run build: the engine by emscripten, then everything that a page needs, in dist/.
//
// The engine needs `emcmake` (Debian: apt-get install emscripten), `cmake` and a build tool. `node build.js --no-engine`
// leaves it as it is. The search box is the one that `halfword serve` has, in ../src/halfword/serve/page.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const FOLDER = here("../build/wasm");
const SHARED = ["combobox.js", "halfword.js", "server.js"]; // of the server's page

/**
 * @param {string} command
 * @param {string[]} given
 */
function run(command, ...given) {
  const { status, error, stdout, stderr } = spawnSync(command, given, { encoding: "utf8" });
  if (error)
    throw new Error(
      `${command} cannot be run (${error.message}); on Debian: apt-get install emscripten cmake ninja-build`,
    );
  if (status !== 0) throw new Error(`${command} ${given.join(" ")} failed:\n${stdout}${stderr}`);
}

function buildEngine() {
  const generator = spawnSync("ninja", ["--version"]).status === 0 ? ["-G", "Ninja"] : [];
  run("emcmake", "cmake", "-S", here(".."), "-B", FOLDER, "-DCMAKE_BUILD_TYPE=Release", ...generator);
  run("cmake", "--build", FOLDER, "--parallel");
  for (const name of ["halfword.wasm", "halfword-simd.wasm"]) cpSync(`${FOLDER}/${name}`, here(`dist/${name}`));
}

/** The default model in its form for the web, where the Python package is installed. */
function makeModel() {
  const { error } = spawnSync("halfword", ["shrink", "-o", here("dist/default.halfword"), "--megabytes", "3"]);
  if (error)
    console.log("halfword is not installed, so dist/ has no model; make one with: halfword shrink -o web.halfword");
}

mkdirSync(here("dist"), { recursive: true });
for (const name of readdirSync(here("src"))) cpSync(here(`src/${name}`), here(`dist/${name}`));
for (const name of SHARED) {
  const file = here(`../src/halfword/serve/page/${name}`);
  if (existsSync(file)) cpSync(file, here(`dist/${name}`));
}
if (!process.argv.includes("--no-engine")) buildEngine();
if (existsSync(here("node_modules/.bin/tsc"))) run(here("node_modules/.bin/tsc"), "-p", here("."));
if (!existsSync(here("dist/default.halfword"))) makeModel();
