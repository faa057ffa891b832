// The page around the search box: the chart of latencies and what was chosen.
import "./halfword.js";

const KEPT = 40;
const SVG = "http://www.w3.org/2000/svg";
const [box, chart, latency, chosen, details, model] = ["box", "chart", "latency", "chosen", "details", "model"].map(
  (id) => document.getElementById(id),
);
const latencies = [];

function draw() {
  const highest = Math.max(...latencies, 1);
  const width = 240 / KEPT;
  chart.replaceChildren(
    ...latencies.map((milliseconds, index) => {
      const bar = document.createElementNS(SVG, "rect");
      const height = Math.max(1, (46 * milliseconds) / highest);
      const place = { x: index * width, y: 48 - height, width: width * 0.8, height };
      for (const [name, value] of Object.entries(place)) bar.setAttribute(name, value.toFixed(2));
      return bar;
    }),
  );
  const sorted = latencies.toSorted((one, other) => one - other);
  const middle = sorted[Math.floor(sorted.length / 2)];
  const last = latencies.at(-1);
  latency.textContent = `last ${last.toFixed(1)} ms · median ${middle.toFixed(1)} ms · highest ${sorted.at(-1).toFixed(1)} ms`;
}

box.addEventListener("halfword-answer", ({ detail }) => {
  latencies.push(detail.milliseconds);
  if (latencies.length > KEPT) latencies.shift();
  draw();
});
box.addEventListener("halfword-submit", ({ detail }) => {
  const source = detail.completion ? `, completed by ${detail.completion.source}` : "";
  chosen.textContent = detail.query ? `You asked for “${detail.query}”${source}.` : "";
});
details.addEventListener("change", () => box.toggleAttribute("details", details.checked));

box.value = new URLSearchParams(location.search).get("q") ?? "";
box.focus();
fetch("readyz")
  .then((reply) => reply.json())
  .then((state) => {
    model.textContent = `Model ${state.model}`;
  })
  .catch(() => {});
