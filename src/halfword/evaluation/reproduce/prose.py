"""The text of a report."""

from collections.abc import Mapping
from typing import Any

from halfword.evaluation.reproduce.words import figure, half_width, number

CAPTIONS = {
    "lengths": "MRR and PMRR by the length of the query and of the prefix, MRL by the length of the query, as in the "
    "paper; the bands are 95 % intervals, and lengths with few rows are left out.",
    "frontier": "Quality against latency: MRR over all test rows, and the median time of a completion on one core. "
    "Up and to the left is better; the dotted line joins the rows for which no other row is both faster and better.",
}

OTHER_METRICS = (
    "Over all rows. Success: whether the query is among the ten. Partial MRL: how many characters may be missing at "
    "the end while the first words of the query are still offered. Normalised MRL: the share of a query that may be "
    "missing (the paper suggests both). Keystrokes saved: the share of the keystrokes that a user does not need."
)

METHOD = (
    "Prefix lengths for MRR and PMRR are fixed by the paper's hash; MRL and the keystrokes saved ask every prefix.",
    "The networks of the paper's rows have the paper's size, pieces and number of epochs. The learning rate rises and "
    "falls; in the paper it is constant. Weights of blends are fitted on the validation split.",
    "Retrace, as described in the paper, also finds pieces at word starts (the paper's own code does not). All its "
    "starts share one beam. Hypotheses that can no longer be among the answers are dropped.",
    "Steps is how far the search goes, in pieces (the paper's decode length). A cell is one piece read by the language "
    "model. Both are means over a sample.",
    "CPU /s is on one core of the machine named above, without any cache. GPU /s is the rate at which the batched "
    "completer answered the whole evaluation.",
    "MB is the part of the model file that the row reads: its parts, in the precision in which it computes.",
    "Published values are for the full AOL log (17.5 million training queries). They are shown for comparison and need "
    "not equal ours.",
)


def lead(content: Mapping[str, Any]) -> str:
    """Return the first sentences: what was measured, and what was best."""
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
    """Return what a reader must know before using the figures."""
    found = []
    if content["options"]["quick"]:
        found.append(
            "A quick report: small networks, trained for seconds, on few rows. Nothing is learned from sessions. "
            "It shows that everything works; do not cite it."
        )
    if content["options"]["paper"]:
        found.append("In paper mode: a mistake of the paper's code is repeated in every figure (see below).")
    return found


def reading(content: Mapping[str, Any]) -> str:
    """Return how to read the tables."""
    data = content["data"]
    return (
        f"MRR and PMRR over {data['rows']['all']:,} rows ({data['different']:,} distinct queries), MRL over "
        f"{data['walked_rows']:,}. Small figures are half the width of the 95 % interval. Bold is the best of its "
        "column. Lines in italics are the paper's."
    )


def testing(content: Mapping[str, Any]) -> str:
    """Return how differences were tested."""
    return (
        f"The first row minus the second, with its 95 % interval, from {content['made']['bootstrap']:,} paired "
        "bootstrap samples of queries (the repeats of a query stay together). p is two-sided and corrected for the "
        "number of tests on this page (Holm). Stars: p < .05, .01 and .001."
    )


def context(content: Mapping[str, Any]) -> str:
    """Return how rows were asked with the session's earlier queries, or why not."""
    about = content["context"]
    if about["left_out"]:
        return f"Left out: {about['left_out']}."
    return (
        f"{about['rows']:,} test rows, each at one prefix, without and with up to {about['queries']} queries before it "
        "in its session. Lines are kinds of rows, by what they have in common with these queries. Everything that was "
        "found is shown, however unlikely. Each difference has its 95 % interval."
    )


def accident(content: Mapping[str, Any]) -> str:
    """Return the paragraph on paper mode."""
    text = (
        "For a prefix that ends with a space, the paper's code may offer the prefix itself, without the space. That is "
        "not a completion, but it counts as a partial match and so raises PMRR. It also takes the place of a real "
        "candidate."
    )
    gains = [
        row["paper_mode"]["pmrr"]["all"] - row["metrics"]["pmrr"]["all"]["value"]
        for row in content["rows"]
        if row.get("paper_mode") and row["published"]
    ]
    if content["options"]["paper"]:
        return f"{text} This report was made with --paper, so all its figures include it."
    least, most = figure("pmrr", min(gains), signed=True), figure("pmrr", max(gains), signed=True)
    return f"{text} The tables above do not include it. With it, PMRR changes by {least} to {most}:"


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
    """Return what else is needed to repeat the report."""
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
