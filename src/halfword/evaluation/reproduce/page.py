"""The report as one HTML file that loads nothing else."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from halfword.evaluation.reproduce import prose
from halfword.evaluation.reproduce.sample import GROUPS
from halfword.evaluation.reproduce.tables import (
    COSTS,
    OTHERS,
    SHOWN,
    Cell,
    Line,
    accident_lines,
    comparison_columns,
    comparison_lines,
    context_columns,
    context_lines,
    other_lines,
    tables,
)
from halfword.evaluation.reproduce.words import METRIC_NAMES

_INLINE_COLOURS = {"#1b1f24": "var(--ink)", "#66707b": "var(--muted)", "#d5dbe1": "var(--line)", "#ffffff": "none"}


def page(content: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """Return the whole page; `pictures` are SVG by name."""
    sections = {
        "table": ("Results", _results(content)),
        "others": ("Other metrics", _others(content)),
        "context": ("With the earlier queries of a session", _context(content)),
        "comparisons": ("Which differences are real", _comparisons(content)),
        "pictures": ("Pictures", _pictures(pictures)),
        "examples": ("Examples", _examples(content)),
        "accident": ("A mistake of the paper's code", _accident(content)),
        "made": ("How this was made", _made(content)),
    }
    sections = {name: section for name, section in sections.items() if section[1]}
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, (title, _) in sections.items())
    title = f"The paper, repeated on {escape(content['data']['name'])}"
    body = "\n".join(f'<h2 id="{name}">{title}</h2>\n{text}' for name, (title, text) in sections.items())
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{style}</style>\n</head>\n'
        f"<body>\n<h1>{title}</h1>\n{_lead(content)}\n<nav><ul>{links}</ul></nav>\n{body}\n</body>\n</html>\n"
    )


def _lead(content: Mapping[str, Any]) -> str:
    parts = [f'<p class="lead">{escape(prose.lead(content))}</p>']
    parts += [f'<p class="warning">{escape(warning)}</p>' for warning in prose.warnings(content)]
    return "\n".join(parts)


def _results(content: Mapping[str, Any]) -> str:
    parts = [f"<p>{escape(prose.reading(content))}</p>"]
    for title, lines in tables(content).items():
        parts += [f"<h3>{escape(title)}</h3>", _scroll(f"<table>\n{_result_head()}\n{_body(lines)}\n</table>")]
    return "\n".join(parts)


def _result_head() -> str:
    metrics = "".join(f'<th colspan="3" class="edge">{METRIC_NAMES[metric]}</th>' for metric in SHOWN)
    groups = "".join(f"<th{_edge(number)}>{group}</th>" for _ in SHOWN for number, group in enumerate(GROUPS))
    costs = "".join(f"<th{_edge(number)}>{name}</th>" for number, name in enumerate(COSTS))
    top = f'<tr><th></th>{metrics}<th colspan="{len(COSTS)}" class="edge">cost</th></tr>'
    return f"<thead>{top}\n<tr><th></th>{groups}{costs}</tr></thead>"


def _edge(number: int) -> str:
    return ' class="edge"' if number == 0 else ""


def _body(lines: Iterable[Line]) -> str:
    return "<tbody>\n" + "\n".join(_line(line) for line in lines) + "\n</tbody>"


def _line(line: Line) -> str:
    label = f'<th scope="row">{escape(line.label)}</th>'
    if line.left_out:
        span = len(SHOWN) * len(GROUPS) + len(COSTS)
        return f'<tr>{label}<td colspan="{span}" class="left muted">left out: {escape(line.left_out)}</td></tr>'
    edges = {*range(0, len(SHOWN) * len(GROUPS) + 1, len(GROUPS))}
    cells = "".join(_cell(cell, number in edges) for number, cell in enumerate(line.cells))
    kind = ' class="paper"' if line.paper else ""
    return f"<tr{kind}>{label}{cells}</tr>"


def _cell(cell: Cell, edge: bool = False, left: bool = False) -> str:
    names = [name for name, wanted in (("best", cell.best), ("edge", edge), ("left", left)) if wanted]
    attribute = f' class="{" ".join(names)}"' if names else ""
    note = f"<small>{escape(cell.note)}</small>" if cell.note else ""
    return f"<td{attribute}>{escape(cell.text)}{note}</td>"


def _others(content: Mapping[str, Any]) -> str:
    lines = other_lines(content)
    head = _simple_head(["", *(METRIC_NAMES[metric] for metric in OTHERS)])
    return f"<p>{escape(prose.OTHER_METRICS)}</p>\n{_scroll(_plain_table(head, lines))}" if lines else ""


def _context(content: Mapping[str, Any]) -> str:
    if content["context"] is None:
        return ""
    told, lines = f"<p>{escape(prose.context(content))}</p>", context_lines(content)
    return f"{told}\n{_scroll(_plain_table(_simple_head(['', *context_columns()]), lines))}" if lines else told


def _plain_table(head: str, lines: Iterable[Line]) -> str:
    body = "\n".join(
        f'<tr><th scope="row">{escape(line.label)}</th>{"".join(_cell(cell) for cell in line.cells)}</tr>'
        for line in lines
    )
    return f"<table>{head}\n<tbody>\n{body}\n</tbody></table>"


def _comparisons(content: Mapping[str, Any]) -> str:
    lines = comparison_lines(content)
    if not lines:
        return ""
    head = _simple_head(["", "rows", *comparison_columns()])
    body = "\n".join(
        f'<tr><th scope="row">{escape(line.label)}</th>{_cell(line.cells[0], left=True)}'
        f"{''.join(_cell(cell) for cell in line.cells[1:])}</tr>"
        for line in lines
    )
    table = f'<table class="questions">\n{head}\n<tbody>\n{body}\n</tbody>\n</table>'
    return f"<p>{escape(prose.testing(content))}</p>\n{_scroll(table)}"


def _simple_head(names: Sequence[str]) -> str:
    return f"<thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in names)}</tr></thead>"


def _pictures(pictures: Mapping[str, str]) -> str:
    parts = []
    for name, svg in pictures.items():
        caption = prose.CAPTIONS[name]
        picture = f'<div class="scroll" role="img" aria-label="{escape(caption)}">{inline(svg)}</div>'
        parts.append(f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>")
    return "\n".join(parts)


def inline(svg: str) -> str:
    """Return a figure as part of a page: in the colours of the page, without a size of its own."""
    svg = svg[svg.index("<svg") :]
    for colour, variable in _INLINE_COLOURS.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)


def _examples(content: Mapping[str, Any]) -> str:
    rows = [row for row in content["rows"] if row["examples"]]
    if not rows:
        return ""
    parts = []
    for prefix in rows[0]["examples"]:
        columns = [row["examples"].get(prefix, []) for row in rows]
        deepest = max(len(column) for column in columns)
        lines = ("".join(f"<td>{escape(_at(column, place))}</td>" for column in columns) for place in range(deepest))
        body = "".join(f"<tr>{line}</tr>\n" for line in lines)
        head = "".join(f'<th class="left">{escape(row["label"])}</th>' for row in rows)
        parts += [f"<h3>“{escape(prefix)}”</h3>"]
        parts += [_scroll(f'<table class="examples"><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>')]
    return "\n".join(parts)


def _at(texts: Sequence[str], place: int) -> str:
    return texts[place] if place < len(texts) else ""


def _accident(content: Mapping[str, Any]) -> str:
    lines = accident_lines(content)
    if not lines:
        return ""
    head = _simple_head(["", "PMRR", "PMRR with it", "the paper's PMRR", "MRR", "MRR with it"])
    return f"<p>{escape(prose.accident(content))}</p>\n{_scroll(_plain_table(head, lines))}"


def _made(content: Mapping[str, Any]) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in prose.facts(content).items())
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in prose.METHOD)
    return f"<pre>{escape(prose.command(content))}</pre>\n<dl>{facts}</dl>\n<ul>\n{notes}\n</ul>"


def _scroll(table: str) -> str:
    return f'<div class="scroll" tabindex="0">{table}</div>'
