"""What is shown: likely suggestions, real words, nothing twice in different clothes."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword import load
from halfword.core.errors import OptionError
from halfword.core.model_file import write_model
from halfword.core.options import UNFILTERED
from halfword.core.policy import DEFAULT_POLICY, Policy
from halfword.core.verify import read_arrays
from halfword.core.words import words_in
from halfword.data.query_table import QueryTable
from halfword.search.model import PARTS, import_engine
from halfword.search.reference import PlainCompanions
from halfword.search.reference_selection import plain_form
from halfword.training.offers import Offers
from halfword.training.showing import fit_showing, for_log
from tests.toy import SHOWS_ALL, Toy, write_toy

pytestmark = pytest.mark.engine

TYPED = {"ab cab": 5, "ab": 9, "abc": 4, "bcd a": 3, "cab d": 2}
BACKGROUND = ("abca", "ba", "d", "dab")
KNOWN = {word for query in TYPED for word in query.split()} | set(BACKGROUND)
PREFIXES = ("", "a", "ab", "ab ", "ab c", "b", "bc", "d", "xyz ")
ANY_TEXT = st.text(st.sampled_from("ab s.-'é한手机のขา𠀋 "), max_size=12)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    toy = Toy(parts=PARTS, counts=TYPED, background_words=BACKGROUND, spread=0.7)
    return write_toy(tmp_path_factory.mktemp("shown") / "model.halfword", toy)


def invents(prefix: str, text: str) -> bool:
    return any(word not in KNOWN for word in words_in(text[prefix.rfind(" ") + 1 :]))


def test_freely_shows_invented_words_and_never_shows_none(path: Path) -> None:
    model = load(path)
    freely = [(prefix, each.text) for prefix in PREFIXES for each in model.complete(prefix, UNFILTERED, count=50)]
    never = [(prefix, each.text) for prefix in PREFIXES for each in model.complete(prefix, invent="never", count=50)]
    assert any(invents(*each) for each in freely)
    assert never
    assert not any(invents(*each) for each in never)


def test_careful_shows_an_invented_word_only_if_it_is_likely(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, invented_min_probability=0.02)
    toy = Toy(parts=PARTS, counts=TYPED, background_words=BACKGROUND, spread=0.7, policy=policy)
    model = load(write_toy(tmp_path / "careful.halfword", toy))
    for prefix in PREFIXES:
        freely, careful = model.complete(prefix, UNFILTERED, count=50), model.complete(prefix, count=50)
        likely = [each for each in freely if not invents(prefix, each.text) or each.score >= np.log(0.02)]
        assert [each for each in careful if each in likely] == likely
        assert all(not invents(prefix, each.text) or each.score >= np.log(0.02) for each in careful)


def test_where_an_invented_word_must_be_certain_careful_is_as_strict_as_never(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, invented_min_probability=1.0)
    toy = Toy(parts=PARTS, counts=TYPED, background_words=BACKGROUND, spread=0.7, policy=policy)
    model = load(write_toy(tmp_path / "strict.halfword", toy))
    for prefix in PREFIXES:
        assert model.complete(prefix, count=50) == model.complete(prefix, count=50, invent="never")


def test_a_log_of_few_queries_shows_no_invented_words_but_all_its_queries() -> None:
    few = for_log(DEFAULT_POLICY, QueryTable.of({f"query {number}": 30 for number in range(300)}))
    many = for_log(DEFAULT_POLICY, QueryTable.of({f"query {number}": 1 for number in range(3_000)}))
    once = for_log(DEFAULT_POLICY, QueryTable.of({f"query {number}": 1 for number in range(300)}))
    assert few.invented_min_probability == 1.0 == few.known_typed
    assert few.counts_believed < many.counts_believed
    assert few.reordered_log_probability > once.reordered_log_probability == many.reordered_log_probability
    assert few.odd_min_probability > once.odd_min_probability
    assert few.length_penalty == 0.0 < once.length_penalty
    assert few.reordered_most_queries > many.reordered_most_queries
    assert many == replace(DEFAULT_POLICY, common_probability=many.common_probability, new_after_whole=1.0)
    assert few.new_after_whole < 0.01 < many.new_after_whole


def test_some_more_queries_that_are_typed_again_and_again_are_those_of_a_small_site_too() -> None:
    some = for_log(DEFAULT_POLICY, QueryTable.of({f"query {number}": 3 for number in range(3_000)}))
    large = for_log(DEFAULT_POLICY, QueryTable.of({f"query {number}": 3 for number in range(10_000)}))
    assert some.invented_min_probability == 1.0 == some.known_typed
    assert some.length_penalty == DEFAULT_POLICY.length_penalty  # there are rows enough to fit it
    learned = {"common_probability": large.common_probability, "new_after_whole": large.new_after_whole}
    assert large == replace(DEFAULT_POLICY, **learned)


def test_where_counts_are_believed_known_queries_stand_in_their_order(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, counts_believed=0.0, length_penalty=0.0)
    model = load(write_toy(tmp_path / "counts.halfword", Toy(parts=PARTS, counts=TYPED, policy=policy)))
    for prefix in PREFIXES:
        known = [text for text in model.complete(prefix, count=50).texts if text in TYPED]
        assert known == sorted(known, key=lambda text: -TYPED[text])


def test_a_word_of_the_background_is_not_invented(path: Path, tmp_path: Path) -> None:
    alone = write_toy(tmp_path / "alone.halfword", Toy(parts=PARTS, counts=TYPED, spread=0.7))
    assert "dab" in load(path).complete("d", invent="never", count=100).texts
    assert "dab" not in load(alone).complete("d", invent="never", count=100).texts


def test_whole_words_of_the_prefix_are_the_users_own(path: Path) -> None:
    assert load(path).complete("xyz ", invent="never")


def test_what_reads_oddly_is_shown_only_if_it_is_likely_or_all_is_asked_for(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, odd_min_probability=0.02)
    model = load(
        write_toy(tmp_path / "m.halfword", Toy(parts=PARTS, counts=TYPED, words=True, spread=0.7, policy=policy))
    )
    together = PlainCompanions(list(TYPED))
    hidden = strange = 0
    for prefix in PREFIXES:
        everything, shown = model.complete(prefix, UNFILTERED, count=50), model.complete(prefix, count=50)
        fine = [
            each
            for each in everything
            if each.text in TYPED
            or not (together.is_apart(each.text, len(prefix), policy) or together.is_unfinished(each.text, policy))
        ]
        likely = sorted(shown, key=lambda each: -each.score)
        odd = [(rank, each) for rank, each in enumerate(likely, 1) if each in everything and each not in fine]
        assert all(each in shown for each in fine)
        assert all(
            each.score >= np.log(0.02 * np.sqrt(rank)) for rank, each in odd
        )  # the lower it stands, the likelier
        hidden += len(everything) - len(fine) - len(odd)
        strange += len(odd)
    assert hidden > 0 < strange


def test_the_least_probability_of_the_policy_counts_unless_another_is_asked_for(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, min_probability=0.01)
    model = load(write_toy(tmp_path / "m.halfword", Toy(parts=PARTS, counts=TYPED, policy=policy)))
    everything = model.complete("a", UNFILTERED)
    assert model.complete("a", invent="freely") == [each for each in everything if each.score >= np.log(0.01)]
    assert model.complete("a", invent="freely", min_probability=0.0) == everything


def test_an_empty_prefix_shows_what_is_popular_however_small_its_share(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, min_probability=0.9, often_typed=1e6, known_typed=1e6)
    model = load(write_toy(tmp_path / "m.halfword", Toy(parts=PARTS, counts=TYPED, policy=policy)))
    assert model.complete("")
    assert not model.complete("", min_probability=0.9)
    assert not model.complete("ab")


def test_what_was_often_typed_is_shown_however_unlikely_unless_a_probability_is_asked_for(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, min_probability=0.99, often_typed=4.0, known_typed=4.0)
    model = load(write_toy(tmp_path / "m.halfword", Toy(parts=PARTS, counts=TYPED, policy=policy)))
    for prefix in ("a", "ab", "c"):
        often = {text for text, count in TYPED.items() if count >= 4 and text.startswith(prefix) and text != prefix}
        assert set(model.complete(prefix).texts) == often
        assert not model.complete(prefix, min_probability=0.99)
    assert any(count < 4 for count in TYPED.values())


def test_what_is_common_among_all_queries_is_shown_after_a_beginning_with_many_ways_on(tmp_path: Path) -> None:
    for common in (1.0, 0.01, 0.001):
        policy = replace(SHOWS_ALL, min_probability=0.5, common_probability=common, often_typed=1e6, known_typed=1e6)
        # Without a network there is one way to score, whether scores are conditional or not.
        toy = Toy(parts=("popular", "ngram"), counts=TYPED, policy=policy)
        model = load(write_toy(tmp_path / "m.halfword", toy))
        for prefix in ("a", "b", "cab ", "dcba"):
            overall = model.complete(prefix, UNFILTERED, conditional=False)
            expected = {each.text for each in overall if each.score >= np.log(common)}
            likely = {each.text for each in model.complete(prefix, invent="freely", min_probability=0.5)}
            assert {each.text for each in model.complete(prefix, invent="freely")} == expected | likely
        assert len(model.complete("dcba")) < len(model.complete("a")) or common == 1.0


def test_what_is_common_may_stop_after_any_word_but_its_words_go_together(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, odd_min_probability=0.9, odd_ending=0.9, common_probability=1e-9)
    toy = Toy(parts=PARTS, counts=TYPED, words=True, spread=0.7, policy=policy)
    model, plain = load(write_toy(tmp_path / "m.halfword", toy)), PlainCompanions(list(TYPED))
    unfinished = apart = 0
    for prefix in PREFIXES:
        shown = model.complete(prefix, count=50, invent="freely").texts
        for text in set(model.complete(prefix, UNFILTERED, count=50).texts) - set(TYPED):
            is_apart = plain.is_apart(text, len(prefix), policy)
            assert is_apart or text in shown
            unfinished += text in shown and plain.is_unfinished(text, policy)
            apart += is_apart and text not in shown
    assert unfinished > 0 < apart


def test_near_duplicates_are_shown_once_unless_both_are_often_typed(tmp_path: Path) -> None:
    counts = {"dvd player": 9, "dvd players": 4, "dvd-player": 3, "dvd play": 2}
    pieces = tuple("dvplayers- ")
    for often, expected in ((5.0, {"dvd player", "dvd play"}), (4.0, {"dvd player", "dvd players", "dvd play"})):
        toy = Toy(
            parts=PARTS,
            counts=counts,
            policy=replace(SHOWS_ALL, min_probability=1e-9, often_typed=often),
            pieces=pieces,
        )
        model = load(write_toy(tmp_path / f"{often}.halfword", toy))
        assert {each.text for each in model.complete("dv", count=100)} & set(counts) == expected
        assert set(counts) <= {each.text for each in model.complete("dv", count=100, min_probability=0.0)}


def test_what_differs_in_spaces_alone_is_shown_once_where_the_policy_says_so(tmp_path: Path) -> None:
    counts = {"losa 5mg": 40, "losa 5 mg": 15, "losas": 30}
    for once, shown in ((0.0, set(counts)), (1.0, {"losa 5mg", "losas"})):
        policy = replace(SHOWS_ALL, min_probability=1e-9, often_typed=5.0, shown_once=once)
        toy = Toy(parts=PARTS, counts=counts, policy=policy, pieces=tuple("losamg5 "))
        texts = load(write_toy(tmp_path / f"{once}.halfword", toy)).complete("lo", count=100).texts
        assert set(texts) & set(counts) == shown


def test_signs_that_make_another_name_are_no_other_clothes(tmp_path: Path) -> None:
    counts = {"c++": 3, "c#": 2, "c": 4, "c.": 1}
    toy = Toy(
        parts=PARTS,
        counts=counts,
        policy=replace(SHOWS_ALL, min_probability=1e-9, often_typed=5.0),
        pieces=tuple("c+#. "),
    )
    shown = set(load(write_toy(tmp_path / "toy.halfword", toy)).complete("", count=100).texts)
    assert shown & set(counts) == {"c++", "c#", "c"}


@pytest.mark.parametrize(("often", "shown"), [(90, False), (30, True)])
def test_a_near_duplicate_that_is_far_rarer_than_what_is_shown_is_left_out(
    tmp_path: Path, often: int, shown: bool
) -> None:
    policy = replace(SHOWS_ALL, min_probability=1e-9, often_typed=5.0, often_typed_share=0.2)
    toy = Toy(parts=PARTS, counts={"dvd player": often, "dvdplayer": 9}, policy=policy, pieces=tuple("dvplayer "))
    texts = load(write_toy(tmp_path / "toy.halfword", toy)).complete("dv", count=100).texts
    assert ("dvdplayer" in texts, "dvd player" in texts) == (shown, True)


def shown_after(folder: Path, typed: str, counts: dict[str, int], **numbers: float) -> list[str]:
    """Return what is shown and nobody typed."""
    policy = replace(SHOWS_ALL, min_probability=1e-4, **numbers)
    toy = Toy(parts=PARTS, counts=counts, background_words=("abs", "d"), policy=policy, pieces=tuple("abcds "))
    return [
        each.text
        for each in load(write_toy(folder / "toy.halfword", toy)).complete(typed, count=100)
        if each.source == "model"
    ]


def test_after_a_whole_known_query_what_is_new_must_be_likelier(tmp_path: Path) -> None:
    counts = {"ab": 90, "b": 2}
    many = shown_after(tmp_path, "ab", counts)
    few = shown_after(tmp_path, "ab", counts, new_after_whole=0.1)
    assert set(few) < set(many)
    assert shown_after(tmp_path, "a", counts, new_after_whole=0.1) == shown_after(tmp_path, "a", counts)  # not whole
    assert len(shown_after(tmp_path, "ab", counts | {"ab d": 900}, new_after_whole=0.1)) > len(few)  # most go on


def test_nothing_new_is_shown_that_is_nearly_what_was_typed(tmp_path: Path) -> None:
    assert "dabs" in shown_after(tmp_path, "dab", {"dabb": 2})
    assert "dabs" not in shown_after(tmp_path, "dab", {"dabb": 2}, shown_once=1.0)
    assert "dabs" not in shown_after(tmp_path, "dab", {"dab": 2})  # a known query
    assert "dabb" in shown_after(tmp_path, "dab", {"dab": 2})


def test_nothing_new_is_shown_that_has_the_words_of_a_known_query(tmp_path: Path) -> None:
    policy = replace(SHOWS_ALL, min_probability=1e-9)
    for once in (0.0, 1.0):
        toy = Toy(parts=PARTS, counts={"b a": 9, "c": 2}, order=4, policy=replace(policy, shown_once=once))
        texts = load(write_toy(tmp_path / f"{once}.halfword", toy)).complete("a ", count=100).texts
        assert ("b a" in texts, "a b" in texts) == (True, not once)


def shown_in_a_site(folder: Path, typed: str, counts: dict[str, int], once: float) -> tuple[list[str], list[str]]:
    """Return which known queries are shown, and what nobody typed."""
    policy = replace(SHOWS_ALL, min_probability=1e-9, invented_min_probability=1.0, shown_once=once)
    policy = replace(
        policy, often_typed=5.0, often_typed_share=0.2, reordered_inflected=1.0, reordered_most_queries=9.0
    )
    toy = Toy(parts=PARTS, counts=counts, order=4, policy=policy, pieces=tuple("abcdglnost "), spread=0.7)
    toy = replace(toy, background_words=("d", "c"))
    texts = load(write_toy(folder / f"{once}.halfword", toy)).complete(typed, count=100).texts
    return [text for text in texts if text in counts], [text for text in texts if text not in counts]


def test_a_far_rarer_plural_of_a_known_query_that_was_typed_whole_is_not_shown(tmp_path: Path) -> None:
    counts = {"salad": 50, "salads": 9, "salad bol": 1}
    assert shown_in_a_site(tmp_path, "salad", counts, 0.0)[0] == ["salad bol"]
    assert "salads" in shown_in_a_site(tmp_path, "salad", {**counts, "salads": 11}, 0.0)[0]
    assert "salads" in shown_in_a_site(tmp_path, "salad", {"salads": 1}, 0.0)[0]


def test_of_one_query_in_two_orders_the_more_frequent_is_shown_where_the_policy_says_so(tmp_path: Path) -> None:
    for count, shown in ((3, {"gas boat"}), (9, {"gas boat", "boat gas"})):  # typed so, and not far rarer
        counts = {"gas boat": 40, "boat gas": count}
        assert "boat gas" in shown_in_a_site(tmp_path, "boat g", counts, 0.0)[0]
        assert set(shown_in_a_site(tmp_path, "boat g", counts, 1.0)[0]) == shown


def test_of_one_query_with_other_spaces_the_more_frequent_is_shown_where_the_policy_says_so(tmp_path: Path) -> None:
    counts = {"gas boat d": 12, "gasboat d": 30}
    assert set(shown_in_a_site(tmp_path, "gas b", counts, 0.0)[0]) == set(counts)
    assert shown_in_a_site(tmp_path, "gas b", counts, 1.0)[0] == ["gasboat d"]


def test_nothing_new_is_shown_that_begins_a_known_query_where_the_policy_says_so(tmp_path: Path) -> None:
    assert "ab" in shown_after(tmp_path, "a", {"ab d": 9, "c": 2})
    assert "ab" not in shown_after(tmp_path, "a", {"ab d": 9, "c": 2}, shown_once=1.0)


def test_nothing_new_is_shown_after_an_unknown_word_where_known_queries_are_found(tmp_path: Path) -> None:
    found, others = {"abd": 9, "dog": 2}, {"dog": 2}  # `ab d` finds `abd`; nobody typed the word `ab`
    for counts, once, shown in ((found, 0.0, True), (found, 1.0, False), (others, 1.0, True)):
        known, new = shown_in_a_site(tmp_path, "ab d", counts, once)
        assert (known, "ab dog" in new) == (["abd"] if counts is found else [], shown)


def test_wrong_values_are_named(path: Path) -> None:
    with pytest.raises(OptionError, match="invent must be one of never, careful, freely, got 'maybe'"):
        load(path).complete("a", invent="maybe")
    with pytest.raises(OptionError, match=r"this model has no list of words to keep to"):
        load(path, parts=("ngram",)).complete("a", invent="never")


def test_a_model_without_a_list_of_words_cannot_promise_never(path: Path, tmp_path: Path) -> None:
    from halfword.core.model_file import read_header

    header = read_header(path)
    arrays = {name: array for name, array in read_arrays(path, header).items() if not name.startswith("lexicon.")}
    write_model(tmp_path / "old.halfword", arrays, header.card, policy=header.policy, features=header.features)
    assert load(tmp_path / "old.halfword").complete("a")
    with pytest.raises(OptionError, match=r"this model has no list of words to keep to"):
        load(tmp_path / "old.halfword").complete("a", invent="never")


@given(ANY_TEXT)
def test_the_engine_takes_the_same_for_a_word(text: str) -> None:
    assert import_engine().words_in(text) == words_in(text)


@given(ANY_TEXT | st.text("abcehixysz -", max_size=12))
def test_the_engine_takes_the_same_for_a_near_duplicate(text: str) -> None:
    assert import_engine().plain_form(text) == plain_form(text)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("dvd player", "dvd  players", True),
        ("men's shoes", "mens shoe", True),
        ("t-shirt", "t shirts", True),
        ("watch for men", "watches for men", True),
        ("car battery", "car batteries", True),
        ("cookie dough", "cookies dough", True),
        ("pie", "py", False),
        ("gas", "ga", False),
        ("glass", "glas", False),
        ("new york", "new jersey", False),
    ],
)
def test_near_duplicates_differ_in_spaces_punctuation_and_plurals(one: str, other: str, alike: bool) -> None:
    assert (plain_form(one) == plain_form(other)) is alike


def offers(per_prefix: list[list[float]]) -> tuple[Offers, np.ndarray]:
    first = np.concatenate([[0], np.cumsum([len(each) for each in per_prefix])]).astype(np.int64)
    size = int(first[-1])
    none = np.zeros(size, bool)
    evidence, totals = np.zeros((size, 5), "f4"), np.zeros((len(per_prefix), 2), "f4")
    made = Offers(np.zeros((size, 1), "f4"), first, none, none, evidence, totals)
    return made, np.concatenate(per_prefix)


def test_what_adds_next_to_nothing_is_not_worth_showing() -> None:
    made, probabilities = offers([[0.5, 0.0002, 0.0001], [0.3, 0.1, 0.0002]])
    policy = fit_showing(DEFAULT_POLICY, made, probabilities, np.zeros(6, bool), 2)
    assert 0.0002 < policy.min_probability <= 0.1


def test_what_has_a_fair_chance_is_always_shown() -> None:
    made, probabilities = offers([[0.9, 0.001]] * 300 + [[0.9, 0.06]])  # the log hardly ever wants anything unlikely
    policy = fit_showing(DEFAULT_POLICY, made, probabilities, np.zeros(len(probabilities), bool), 301)
    assert 0.001 < policy.min_probability < 0.06


def random_offers() -> tuple[Offers, np.ndarray, np.ndarray]:
    """Return offers at 3,000 prefixes, how likely they are, and which of them hold an invented word."""
    chance = np.random.default_rng(0)
    made, probabilities = offers([np.exp(chance.uniform(-7, -1.5, 10)).tolist() for _ in range(3000)])
    return made, probabilities, chance.random(len(probabilities)) < 0.3


def test_few_of_the_suggestions_hold_an_invented_word() -> None:
    made, probabilities, invented = random_offers()
    policy = fit_showing(DEFAULT_POLICY, made, probabilities, invented, 3000)
    shown = (probabilities >= policy.min_probability) & (~invented | (probabilities >= policy.invented_min_probability))
    assert invented[probabilities >= policy.min_probability].mean() > 0.2
    assert 0.005 < invented[shown].mean() <= 0.02


def test_few_rows_are_not_trusted_to_tell_how_many_words_are_invented() -> None:
    made, probabilities, _ = random_offers()
    invented = np.repeat(np.arange(3000) % 20 < 6, 10)  # of twenty rows, six are completed by such words
    few, many = (fit_showing(DEFAULT_POLICY, made, probabilities, invented, rows) for rows in (20, 3000))
    assert few.invented_min_probability > many.invented_min_probability


def test_how_many_may_read_oddly_is_judged_by_suggestions_that_nobody_typed() -> None:
    made, probabilities, _ = random_offers()
    odd = np.arange(len(probabilities)) % 10 < 3
    policies = []
    for known in (0.0, 0.6):  # share of the prefixes that go on to known queries alone
        count = np.repeat(np.arange(3000) < known * 3000, 10).astype(np.float32)
        evidence = made.evidence.copy()
        evidence[:, 0], evidence[:, -1] = count, odd & (count == 0)
        judged = replace(made, evidence=evidence)
        policies.append(fit_showing(DEFAULT_POLICY, judged, probabilities, np.zeros(len(odd), bool), 3000))
    assert all(policy.odd_min_probability > 0.001 for policy in policies)


def shown_by(policy: Policy, made: Offers, probabilities: np.ndarray) -> list[tuple[int, int]]:
    """Return the places of what is shown, with their ranks, by the rules as they are told."""
    shown = []
    for begin, end in pairwise(made.first.tolist()):
        rank = 1
        for place in sorted(range(begin, end), key=lambda place: -probabilities[place]):
            least = policy.odd_min_probability * np.sqrt(rank) if made.evidence[place, -1] else 0.0
            if probabilities[place] >= max(policy.min_probability, least) and rank <= 10:
                shown.append((place, rank))
                rank += 1
    return shown


def test_at_most_a_fifth_of_the_suggestions_read_oddly_if_that_costs_little() -> None:
    made, probabilities, chosen = random_offers()
    made.evidence[:, -1] = (chosen & (np.arange(len(chosen)) % 4 > 0)) | (probabilities < 0.02)
    policy = fit_showing(DEFAULT_POLICY, made, probabilities, np.zeros(len(probabilities), bool), 3000)
    odd = made.evidence[:, -1] > 0
    assert odd[probabilities >= policy.min_probability].mean() > 0.4
    assert 0.15 < odd[[place for place, _ in shown_by(policy, made, probabilities)]].mean() <= 0.2


def test_what_reads_oddly_is_not_left_out_at_any_price() -> None:
    made, probabilities, _ = random_offers()
    made.evidence[:, -1] = 1.0  # as in a log that knows nothing
    policy = fit_showing(DEFAULT_POLICY, made, probabilities, np.zeros(len(probabilities), bool), 3000)
    assert 0 < policy.odd_min_probability < 0.05
    everything = replace(policy, odd_min_probability=0.0)
    kept, all_of_it = (
        sum(probabilities[place] / rank for place, rank in shown_by(each, made, probabilities))
        for each in (policy, everything)
    )
    assert 0.96 * all_of_it <= kept < 0.98 * all_of_it


def test_a_log_that_reads_well_pays_nothing() -> None:
    made, probabilities, chosen = random_offers()
    made.evidence[:, -1] = chosen & (np.arange(len(chosen)) % 2 == 0)  # fewer than a fifth
    policy = fit_showing(DEFAULT_POLICY, made, probabilities, np.zeros(len(probabilities), bool), 3000)
    assert policy.odd_min_probability == 0
