"""What a report says in words."""

from collections.abc import Mapping
from typing import Any

from halfword.evaluation.reproduce.words import figure, half_width, number

CAPTIONS = {
    "lengths": "MRR and PMRR by the length of the query and of the prefix, MRL by the length of the query, as in the "
    "paper; the bands are 95 % intervals, and lengths with few rows are left out.",
    "frontier": "Quality against latency: MRR over all test rows, and the median time of a completion on one core. "
    "Up and to the left is better; the dotted line joins the rows than which none is both faster and better.",
}

OTHER_METRICS = (
    "Over all rows. Success is whether the query is among the ten; partial MRL counts what may be missing at the end "
    "while whole words from the beginning of the query are still offered; normalised MRL is the share of a query that "
    "may be missing (the paper suggests both); keystrokes saved is the share of the keys that a user need not press."
)

METHOD = (
    "Prefix lengths for MRR and PMRR are fixed by the paper's hash; MRL and the keystrokes saved ask every prefix.",
    "The networks of the paper's rows have the paper's size, pieces and number of epochs; the learning rate rises and "
    "falls, where the paper holds it still. Weights of blends are fitted on the validation split.",
    "Retrace, as described in the paper, finds pieces at word starts too (the paper's own code does not); all its "
    "starts share one beam; hypotheses that can no longer be among the answers are dropped.",
    "Steps is how far the search goes, in pieces (the paper's decode length); a cell is one reading of one piece by "
    "the language model. Both are means over a sample.",
    "CPU /s is one core of the machine named above, without any cache; GPU /s is the rate at which the batched "
    "completer answered the whole evaluation.",
    "MB is what the row reads of its model file: its parts, in the precision in which it computes.",
    "Published values are those of the full AOL log (17.5 million training queries); they stand beside ours and need "
    "not equal them.",
)


def lead(content: Mapping[str, Any]) -> str:
    """Return the first sentences: what was measured, and what did best."""
    data = content["data"]["rows"]
    measured = [row for row in content["rows"] if "metrics" in row]
    text = f"{len(measured)} ways to complete queries, measured on {data['all']:,} test rows"
    text += f", of which {data['seen'] / data['all']:.1%} were seen in training."
    if measured:
        best = max(measured, key=lambda row: row["metrics"]["mrr"]["all"]["value"])
        value = best["metrics"]["mrr"]["all"]
        text += f" The best of them by MRR is “{best['label']}” with {figure('mrr', value['value'])} "
        text += f"({half_width('mrr', value)})."
    return text


def warnings(content: Mapping[str, Any]) -> list[str]:
    """Return what a reader must know before believing the figures."""
    found = []
    if content["options"]["quick"]:
        found.append(
            "A quick report: small networks, trained for seconds, on few rows. "
            "Good to see that all works; not to be cited."
        )
    if content["options"]["paper"]:
        found.append("In paper mode: the accident of the paper's code is repeated in every figure (see below).")
    return found


def reading(content: Mapping[str, Any]) -> str:
    """Return how to read the tables."""
    data = content["data"]
    return (
        f"MRR and PMRR over {data['rows']['all']:,} rows ({data['different']:,} different queries), MRL over "
        f"{data['walked_rows']:,}. Small figures are half the width of the 95 % interval; bold is the best of its "
        "column; lines in italics are the paper's."
    )


def testing(content: Mapping[str, Any]) -> str:
    """Return how differences were tested."""
    return (
        f"The first row less the second, with its 95 % interval, from {content['made']['bootstrap']:,} paired "
        "bootstraps over queries (the repeats of a query stay together). p is two-sided and raised for the number of "
        "tests on this page (Holm); stars stand for p < .05, .01 and .001."
    )


def accident(content: Mapping[str, Any]) -> str:
    """Return the paragraph on paper mode."""
    text = (
        "Asked to complete a prefix that ends in a space, the paper's code may offer the prefix itself, without the "
        "space. That is no completion, yet it counts as a partial match, and so lifts PMRR; in turn it takes a place "
        "from a real candidate."
    )
    gains = [
        row["paper_mode"]["pmrr"]["all"] - row["metrics"]["pmrr"]["all"]["value"]
        for row in content["rows"]
        if row.get("paper_mode") and row["published"]
    ]
    if content["options"]["paper"]:
        return f"{text} This report was made with --paper, so all its figures have it."
    least, most = figure("pmrr", min(gains), signed=True), figure("pmrr", max(gains), signed=True)
    return f"{text} The tables above are without it; with it, PMRR changes by {least} to {most}:"


def command(content: Mapping[str, Any]) -> str:
    """Return the command that makes this report."""
    options = content["options"]
    words = ["halfword reproduce", content["data"]["name"], "-o report/"]
    words += [f"--{name}" for name in ("quick", "paper") if options[name]]
    words += [f"--rows {','.join(options['rows'])}"] if options["rows"] else []
    words += [f"--sample {options['sample']}"] if options["sample"] else []
    words += [f"--seed {options['seed']}"] if options["seed"] else []
    return " ".join(words)


def facts(content: Mapping[str, Any]) -> dict[str, str]:
    """Return what else one needs to repeat it."""
    made, data = content["made"], content["data"]
    timed = sorted({_machine(row["speed"]["machine"]) for row in content["rows"] if row["speed"]})
    asked = sorted({_machine(row["measured_on"]["machine"]) for row in content["rows"] if "metrics" in row})
    minutes = sum(model["seconds"] for model in content["models"].values()) / 60
    return {
        "data": f"{data['name']}, fingerprint {data['fingerprint']}",
        "seed": str(content["options"]["seed"]),
        "versions": ", ".join(f"{name} {version}" for name, version in made["versions"].items()),
        "asked on": "; ".join(asked) or "–",
        "timed on": "; ".join(timed) or "–",
        "trained": f"{len(content['models'])} models in {number(minutes)} minutes",
    }


def _machine(machine: Mapping[str, Any]) -> str:
    gpu = f", {machine['gpu']}" if machine["gpu"] else ""
    return f"{machine['processor']}, {machine['cores']} cores{gpu}"
