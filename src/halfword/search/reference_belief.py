"""How far each reading of a typed text is believed, in plain Python: what the engine must equal.

The features of a correction; older models have no weights for the last ones:

- `one`: always 1; `cost`: −log p(typed | correction); `edits`: mistakes, of which `spaces` are in spaces;
- `gain`: how much likelier the correction is than the text as typed, by queries that begin so, or by its words;
- `unseen`: whether no query begins with the text as typed; `typed_total` and `total`: log(1 + how often queries were
  typed that begin with the text as typed, or as corrected); `characters`: log(1 + the length of the typed text);
- `known`: mistyped words that are words of the log too; `known_gain` and `word_gain`: how much more often the other
  words are typed than these, and than all mistyped ones, as logarithms;
- `begun`: mistakes in the word that is being typed; `typed_words`: spaces in the typed text; `after`: log(1 +
  characters typed after the last mistake);
- `model_gain`: how much likelier the correction is by the language model; `none` and `typed_none`: what the ranker
  gives to none of its proposals, for the correction and for the text as typed; these three are not known at a glance;
- `letters`: log(1 + letters of the mistyped words); `typed_count`: how often the rarest of them was typed, as a
  logarithm; `changed`: log(1 + letters of the last of them from its first mistake on); `endings`: whole words of which
  no more than the last letter differs, as in inflections;
- `others` and `typed_others`: how often the people of the background type the words in their place, and the mistyped
  ones, as logarithms of the rarest; 0 without a background.

Gains and what the ranker says are cut off at 20 nats. A proposal's probability is the ranker's, given its reading,
times the belief in the reading, summed over all readings that propose it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfword.core.policy import Policy
from halfword.search.reference_corrections import Correction

_MOST_GAIN = 20.0
_LATER = slice(15, 18)  # features that are not known at a glance


def _limited(gain: float) -> float:
    return max(-_MOST_GAIN, min(_MOST_GAIN, gain))


def glance(typed: str, correction: Correction) -> list[float]:
    """Return the features that are known before the correction is completed, and 0 for the others."""
    return [
        1.0,
        -correction.log_probability,
        correction.edits,
        correction.spaces,
        _limited(correction.gain),
        float(correction.typed_total == 0),
        math.log1p(correction.typed_total),
        math.log1p(correction.total),
        math.log1p(len(typed)),
        correction.known,
        _limited(correction.known_gain),
        _limited(correction.word_gain),
        correction.begun,
        typed.count(" "),
        math.log1p(correction.after),
        *[0.0, 0.0, 0.0],
        math.log1p(correction.letters),
        correction.typed_count,
        math.log1p(correction.changed),
        correction.endings,
        correction.others,
        correction.typed_others,
    ]


class PlainBelief:
    """The arrays `glance.*` and `belief.*` of a model file."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], policy: Policy) -> None:
        self._arrays = {name: array.astype(float) for name, array in arrays.items()}
        self._policy = policy

    def worth_completing(self, typed: str, corrections: Sequence[Correction]) -> list[Correction]:
        """Return the corrections that are likely enough at a glance, the likeliest first."""
        odds = [self._log_odds("glance", glance(typed, each)) for each in corrections]
        order = sorted(range(len(odds)), key=lambda place: -odds[place])
        worth = [corrections[place] for place in order if odds[place] >= self._policy.corrected_least_odds]
        return worth[: int(self._policy.corrected_most_completed)]

    def log_probabilities(
        self, typed: str, corrections: Sequence[Correction], gains: Sequence[float], nones: Sequence[float]
    ) -> list[float]:
        """Return the log-probabilities of all readings, as typed first; `nones` has one for each of them."""
        odds = [0.0]
        for correction, gain, none in zip(corrections, gains, nones[1:], strict=True):
            features = glance(typed, correction)
            features[_LATER] = [_limited(gain), max(none, -_MOST_GAIN), max(nones[0], -_MOST_GAIN)]
            odds.append(self._log_odds("belief", features))
        return [each - float(np.logaddexp.reduce(odds)) for each in odds]

    def _log_odds(self, part: str, features: Sequence[float]) -> float:
        weights = {name.removeprefix(f"{part}."): array for name, array in self._arrays.items() if f"{part}." in name}
        row = (np.array(features[: len(weights["mean"])]) - weights["mean"]) / weights["scale"]
        sums = weights["hidden"].reshape(-1, len(row)) @ row + weights["hidden_bias"]
        odds = weights["linear"] @ row + weights["output"] @ (sums / (1 + abs(sums)))
        return float(odds) + self._policy.corrected_more_odds
