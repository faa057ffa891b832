"""Questions to models with Python's answers, in a file that other ways to ask must answer alike.

python -m tests.questions FOLDER [MORE.halfword ...]

Writes models and `answers.json`: what texts are normalised to, and what each model answers. `js/test/` reads it.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from halfword.core.text import PROFILES, normalise_prefix, normalise_query
from halfword.search.model import DEFAULT_MODEL, load
from tests.conftest import COUNTS
from tests.toy import Toy, write_toy

TEXTS = (
    *(
        "",
        " ",
        "New  ",
        "  Ｎew\tYORK ",
        "a\u00adb",
        "x\u0000y\u001f",
        "tab\there\n",
        "▁new▁york",
        "men´s",
        "\x1c\x85 a ",
    ),
    *(
        "ÉCOLE",
        "E\u0301cole",
        "İstanbul",
        "ΟΔΟΣ",
        "ΟΔΟΣ ",
        "ﬁne",
        "½ cup",
        "①②",
        "ＡＢＣ　ＤＥＦ",
        "ﾊﾛｰ",
        "Straße",
        "ẞ",
    ),
    *(
        "삼서",
        "삼\u1160성",
        "\u1109\u1161\u11b7",
        "東京\u3000タワー",
        "क\u200dख",
        "क\u200d",
        "می\u200cخواهم",
        "a\u200db",
        "\u200ba",
    ),
    *(
        "👩\u200d👩\u200d👧",
        "👩\u200d\u200d👧",
        "👩\u200d a",
        "❤\ufe0f",
        "❤",
        "\u1820\u180b",
        "a\u180b",
        "\u202eabc",
        "\ufeffabc",
    ),
    *(
        "क\u200c\u200d\u200cख",
        "\U000e0041a",
        "a\u034f\u0301",
        "q\u0307\u0323",
        "À\u0327",
        "한국 \u3164",
        "a\u2028b",
        "x\u205fy\u1680",
    ),
    *("\u0915\u094d\u200d\u0937 ", "🇩🇪 flag", "Å", "ſ", "Ω", "K", "…", "a\u0300\u0315\u0300\u05ae\u0062"),
)
PREFIXES = (
    *(
        "",
        "n",
        "new",
        "new ",
        "new yo",
        "we",
        "weather in ",
        "iphnoe",
        "how to ",
        "what is the b",
        "best ",
        "ab",
        "ab c",
        "bcd a",
    ),
    *(
        "a",
        "b",
        "cab",
        "d cab",
        "da ",
        "abx",
        "é",
        "한구",
        "한",
        "z",
        "Ab  C",
        "crème br",
        "men's sh",
        "t-sh",
        "zzzzqx",
        "the quick brown f",
    ),
)
CONTEXTS: tuple[tuple[str, ...], ...] = (
    (),
    ("ab cab", "Bcd A"),
    ("weather in paris", "hotels in paris"),
    ("x" * 501, " ", "new york"),
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"count": 3},
    {"min_probability": 0.0, "invent": "freely"},
    {"invent": "never"},
    {"typos": "off", "order": "as typed"},
    {"haste": 0.0, "beam": 20, "count": 5, "fold": False},
    {"retrace": 2, "merge": False, "conditional": False, "echo": True},
)
TOYS = {
    "popular": Toy(parts=("popular",), counts=COUNTS),
    "network": Toy(parts=("network",)),
    "two-layers": Toy(parts=("network",), layers=2, summary=6, seed=3, segmentation="unigram"),
    "memory": Toy(parts=("ngram",)),
    "all": Toy(parts=("popular", "ngram", "network"), words=True, spellings=True, mistakes=True, order=4, pointer=4),
}


def write_answers(folder: Path, more: tuple[Path, ...] = ()) -> Path:
    """Write the models and the file of questions and answers; returns the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    models = [write_toy(folder / f"{name}.halfword", toy) for name, toy in TOYS.items()]
    content = {
        "texts": [
            {
                "text": text,
                "profile": name,
                "prefix": normalise_prefix(text, profile),
                "query": normalise_query(text, profile),
            }
            for text in TEXTS
            for name, profile in PROFILES.items()
        ],
        "models": [
            {"path": str(path.resolve()), "questions": _questions(path)} for path in (*models, DEFAULT_MODEL, *more)
        ],
    }
    file = folder / "answers.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def _questions(path: Path) -> list[dict[str, Any]]:
    """Ask a model everything: each prefix plainly, and each option and context with some of the prefixes."""
    model = load(path)
    can_refuse = "lexicon.size" in _arrays_of(path) or model.parts == ("popular",)
    asked = [
        (prefix, context, options)
        for number, prefix in enumerate(PREFIXES)
        for place, options in enumerate(OPTIONS)
        for context in CONTEXTS
        if (options.get("invent") != "never" or can_refuse) and (not (options or context) or (number + place) % 3 == 0)
    ]
    return [
        {
            "prefix": prefix,
            "context": list(context),
            "options": options,
            "answer": [list(each) for each in model.complete(prefix, context=context, **options)],
        }
        for prefix, context, options in asked
    ]


def _arrays_of(path: Path) -> set[str]:
    from halfword.core.model_file import read_header

    return set(read_header(path).places)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("more", type=Path, nargs="*")
    given = parser.parse_args()
    print(write_answers(given.folder, tuple(given.more)))


if __name__ == "__main__":
    main()
