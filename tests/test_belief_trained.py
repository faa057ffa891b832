"""What a training makes of words that its log does not know."""

import random
from pathlib import Path

import pytest

import halfword
from halfword.training import mistyped


def test_words_of_its_own_language_that_a_small_site_does_not_know_are_seldom_taken_for_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(2)
    syllables = [start + end for start in ("ka", "to", "mi", "ra", "lu") for end in ("n", "r", "s", "")]
    words = sorted({chance.choice(syllables) + chance.choice(syllables) for _ in range(120)})
    chance.shuffle(words)
    log = tmp_path / "log.tsv"
    log.write_text("".join(f"{word}\t9\n" for word in words[:60]))
    data, corrected = halfword.prepare(log), []
    for parts in (0, 4):
        monkeypatch.setattr(mistyped, "_PARTS_KEPT_BACK", parts)
        path = tmp_path / f"{parts}.halfword"
        trained = halfword.train(data, path, parts=("popular", "ngram"), background="none")
        corrected.append(sum(any(each.corrected for each in trained.complete(word)) for word in words[60:]))
    assert corrected[1] < corrected[0] * 2 / 3, corrected
