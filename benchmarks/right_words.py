"""Make the set `@right` of the rules that ship: words of the model that ships that are near to a word of the rules.

python benchmarks/right_words.py    writes it into src/halfword/models/harm.txt, in place of the one there

To be run after the rules or the model have changed. Words that the model does not know are added by hand, above.
"""

from textwrap import wrap

from halfword.core.filters import SHIPPED
from halfword.core.near_words import NearWords
from halfword.core.rules import RIGHT, parse_rules, words_of
from halfword.training.background import Background
from halfword.training.companions import read_companions
from halfword.training.options import SHIPPED as SHIPPED_MODEL

MARK = "# Made by benchmarks/right_words.py; everything below this line is replaced."
WIDTH = 180


def main() -> None:
    """Write the set."""
    by_hand = SHIPPED.read_text(encoding="utf-8").partition(MARK)[0]
    rules = parse_rules(by_hand.splitlines())
    near = NearWords(set(words_of(rules)))
    known = read_companions(Background.open(SHIPPED_MODEL).arrays).words
    right = sorted(word for word in known if near.meant(word))
    lines = wrap(", ".join(right), WIDTH)
    made = "".join(f"@{RIGHT} = {line.rstrip(',')}\n" for line in lines)
    SHIPPED.write_text(f"{by_hand}{MARK}\n{made}", encoding="utf-8")


if __name__ == "__main__":
    main()
