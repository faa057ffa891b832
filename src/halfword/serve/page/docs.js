// Shows the OpenAPI document: operations, parameters, bodies, answers.
const document_ = await (await fetch("openapi.json")).json();
const operations = document.getElementById("operations");

function make(name, text = "", ...children) {
  const element = document.createElement(name);
  element.append(text, ...children);
  return element;
}

function resolve(node) {
  if (!node?.$ref) return node;
  return node.$ref
    .slice(2)
    .split("/")
    .reduce((inner, key) => inner[key], document_);
}

/** Writes a schema down as a short example-like text. */
function sketch(schema, depth = 0) {
  const it = resolve(schema) ?? {};
  if (it.const !== undefined) return JSON.stringify(it.const);
  if (it.enum) return it.enum.map((value) => JSON.stringify(value)).join(" | ");
  const indent = "  ".repeat(depth + 1);
  if (it.properties) {
    const rows = Object.entries(it.properties).map(([name, inner]) => {
      const remark = resolve(inner).description;
      return `${indent}"${name}": ${sketch(inner, depth + 1)},${remark ? `  // ${remark}` : ""}`;
    });
    return `{\n${rows.join("\n")}\n${indent.slice(2)}}`;
  }
  if (it.items) return `[${sketch(it.items, depth)}, …]`;
  if (it.additionalProperties) return `{"any name": ${sketch(it.additionalProperties, depth)}}`;
  return [it.type].flat().join(" or ");
}

function table(heads, rows) {
  const cells = (kind, row) => make("tr", "", ...row.map((cell) => make(kind, cell)));
  return make(
    "table",
    "",
    make("thead", "", cells("th", heads)),
    make("tbody", "", ...rows.map((row) => cells("td", row))),
  );
}

function schemaPart(title, content) {
  return Object.entries(content ?? {}).flatMap(([kind, { schema }]) => {
    const pre = make("pre", "", make("code", sketch(schema)));
    pre.tabIndex = 0;
    return [make("p", `${title} (${kind}):`), pre];
  });
}

for (const [path, methods] of Object.entries(document_.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    if (!operation.responses) continue;
    const name = make("span", method.toUpperCase());
    name.className = "method";
    const section = make("section", "", make("h2", "", name, ` ${path}`), make("p", operation.summary));
    if (operation.description) section.append(make("p", operation.description));
    if (operation.parameters) {
      const rows = operation.parameters.map((it) => [it.required ? `${it.name} (needed)` : it.name, it.description]);
      section.append(table(["parameter", "meaning"], rows));
    }
    section.append(...schemaPart("Body", operation.requestBody?.content));
    section.append(...schemaPart("Answer", operation.responses["200"].content));
    const refusals = Object.entries(operation.responses).filter(([status]) => status !== "200");
    section.append(
      table(
        ["status", "when"],
        refusals.map(([status, it]) => [status, resolve(it).description]),
      ),
    );
    operations.append(section);
  }
}
document.body.dataset.ready = "true";
