"""Typing mistakes: what a mistyped text may stand for, and what it is completed to."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfword import SearchOptions, load
from halfword.core.errors import OptionError
from halfword.core.filters import Blocklist
from halfword.core.model_file import PADDING, Array, read_header, write_model
from halfword.core.options import Invent, Typos
from halfword.core.policy import DEFAULT_POLICY, Policy
from halfword.core.spelling import spelled, unspelled
from halfword.core.verify import read_arrays
from halfword.data.dataset import open_dataset
from halfword.search.filtered import Filtered
from halfword.search.model import Model, engine_options, import_engine
from halfword.search.reference_corrections import PlainCorrections
from halfword.training.channel import Channel, Pair, edits_of, is_correction, mine, mistype
from halfword.training.correcting import BeliefWeights, ReadRows, _cross_entropy, _gradients, _Readings, read_rows
from halfword.training.mistyped import belief_rows, from_inside, made_again, strangers, train_mistakes
from halfword.training.offers import Asked
from halfword.training.word_tree import word_tree
from tests.toy import Toy, write_toy

pytestmark = pytest.mark.engine

THOROUGH = replace(DEFAULT_POLICY, corrected_most_steps=1e7, corrected_near_words=5.0, corrected_most_readings=4.0)
QUERIES = {
    "britney spears": 90,
    "britney spears lyrics": 30,
    "ebay.com": 50,
    "new york": 60,
    "new york times": 40,
    "gulf coast": 20,
    "gulf cost": 1,
    "air jamaica": 9,
    "face": 3,
    "facebook": 80,
    "straßenbahn fahrplan": 30,
    "istanbul hava durumu": 30,
    "삼성 전자": 30,
}
KINDS = {"U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8"}
MISTYPED = {
    "britny sp": "britney sp",  # a letter was left out
    "brittney spe": "britney spe",  # one was added
    "brotney sp": "britney sp",  # one was replaced
    "birtney sp": "britney sp",  # two were swapped
    "newyork ti": "new york ti",  # a space was left out
    "face boo": "faceboo",  # one was added
    "ebay co": "ebay.co",  # one was typed in place of a sign
    "gulf cost": "gulf coast",  # the mistake is a word
    "straßenbhan fahr": "straßenbahn fahr",
    "istambul hav": "istanbul hav",
    "삼송 전": "삼성 전",  # one letter of the syllable
}


def model_of(path: Path, counts: Mapping[str, int], policy: Policy = THOROUGH) -> Model:
    toy = Toy(parts=("popular", "ngram"), counts=dict(counts), policy=policy, mistakes=True)
    return load(write_toy(path / "toy.halfword", toy), cache=False)


AUTO = engine_options(SearchOptions(typos=Typos.AUTO))


def corrections(model: Model, typed: str) -> list[str]:
    return [found[0] for found in model._engine.corrections(typed, AUTO)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return model_of(tmp_path_factory.mktemp("mistakes"), QUERIES)


@pytest.mark.parametrize(("typed", "meant"), MISTYPED.items())
def test_a_mistake_is_corrected(model: Model, typed: str, meant: str) -> None:
    assert corrections(model, typed)[0] == meant


@pytest.mark.parametrize("typed", ["britney sp", "new york", "facebook", "n", "", "new ", "xyz"])
def test_what_is_right_or_unknown_stays_as_it_is(model: Model, typed: str) -> None:
    found = model.complete(typed, typos="auto", invent="freely", min_probability=0.0)
    assert all(each.text.startswith(typed) for each in found[:1])


def test_a_plural_is_not_two_words(tmp_path: Path) -> None:
    model = model_of(tmp_path, {"toilet": 73, "toilet seat": 24})
    assert "toilet s" not in corrections(model, "toilets")
    assert "toilet se" in corrections(model, "toiletse")


@pytest.mark.parametrize("typed", ["inc-4413", "hackathon 2025", "okr q4", "inc-441"])
def test_another_number_is_no_mistake(tmp_path: Path, typed: str) -> None:
    model = model_of(tmp_path, {"inc-4412": 20, "hackathon 2024": 30, "okr q3": 40})
    assert corrections(model, typed) == []
    assert corrections(model, "hackaton 2024") == ["hackathon 2024"]


def test_a_corrected_completion_says_so_and_tells_what_stands_for_the_prefix(model: Model) -> None:
    found = {
        each.text: each for each in model.complete("britny sp", typos="auto", invent="freely", min_probability=0.0)
    }
    spears = found["britney spears"]
    assert spears.corrected
    assert spears.text[: spears.matched] == "britney sp"
    assert not any(each.corrected for each in found.values() if each.text.startswith("britny sp"))


def test_a_correction_may_be_the_whole_query(model: Model) -> None:
    found = model.complete("facebok", typos="auto", invent="freely", min_probability=0.0)
    assert "facebook" in found.texts


def test_corrections_can_be_switched_off(model: Model) -> None:
    found = model.complete("britny sp", typos="off", invent="freely", min_probability=0.0)
    assert all(each.text.startswith("britny sp") for each in found)
    with pytest.raises(OptionError, match="typos must be one of auto, off, got 'on'"):
        model.complete("britny sp", typos="on")


def test_a_blocklist_sees_the_corrected_text(model: Model) -> None:
    options = SearchOptions(typos=Typos.AUTO, invent=Invent.FREELY, min_probability=0.0)
    found = Filtered(model, Blocklist(["britney spears"])).complete("britny sp", options)
    assert not any("britney spears" in each.text for each in found)


LETTERS = "abcs1.é한국 "
LOGS = st.dictionaries(
    st.text(LETTERS, min_size=1, max_size=9).map(lambda text: " ".join(text.split())).filter(bool),
    st.integers(1, 500),
    min_size=1,
    max_size=12,
)

OTHERS = st.dictionaries(st.text(LETTERS.strip(), min_size=1, max_size=5), st.integers(1, 500), max_size=6)


@settings(max_examples=60, deadline=None)
@given(counts=LOGS, others=OTHERS, typed=st.text(LETTERS, max_size=9), seed=st.integers(0, 9))
def test_the_engine_equals_the_plain_corrections(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], others: dict[str, int], typed: str, seed: int
) -> None:
    typed = " ".join(typed.split(" ")).lstrip().replace("  ", " ")
    policy = replace(
        THOROUGH,
        corrected_letters_for_two=3.0,
        corrected_most_queries=1e6,
        corrected_edit_cost=1.0,
        corrected_rare=3.0,
        corrected_enough_score=2.0,
    )
    chance = random.Random(seed)
    costs = [chance.randrange(128) / 64 for _ in range(4 * 30 * 30 + 3)]  # their sums are exact, in any order
    toy = Toy(parts=("popular", "ngram"), counts=counts, policy=policy, arrays={"channel.cost": costs}, mistakes=True)
    toy = replace(toy, others=others)
    model = load(write_toy(tmp_path_factory.mktemp("plain") / "toy.halfword", toy), cache=False)
    found = model._engine.corrections(typed, AUTO)
    expected = PlainCorrections(counts, costs, policy, others or None).corrections(typed)
    assert [each[0] for each in found] == [each.text for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert one[1:] == pytest.approx(other[1:], abs=1e-6)


@pytest.mark.parametrize("steps", [5.0, 20.0, 60.0, 400.0])  # enough for some words, for some texts, for all
def test_what_is_kept_of_words_changes_no_correction(tmp_path: Path, steps: float) -> None:
    policy = replace(THOROUGH, corrected_most_steps=steps)
    toy = Toy(parts=("popular", "ngram"), counts=QUERIES, policy=policy, mistakes=True)
    path = write_toy(tmp_path / "toy.halfword", toy)
    remembering, forgetful = load(path), load(path, cache=False)
    for typed in [*MISTYPED, "gulf cost new yrok britny face boo", "britny gulf cost new yrok"] * 2:
        for length in range(1, len(typed) + 1):
            found = [each._engine.corrections(typed[:length], AUTO) for each in (remembering, forgetful)]
            assert found[0] == found[1]


def test_a_correction_tells_whether_others_type_the_mistyped_word_too(tmp_path: Path) -> None:
    toy = Toy(parts=("popular", "ngram"), counts=QUERIES, policy=THOROUGH, mistakes=True)
    typed_others = []
    for others in ({}, {"coast": 50}, {"coast": 50, "cost": 50}):
        path = write_toy(tmp_path / f"{len(others)}.halfword", replace(toy, others=others))
        found = load(path)._engine.corrections("gulf cost ", AUTO)
        typed_others.append(next(each[-1] for each in found if each[0] == "gulf coast "))
    assert typed_others == pytest.approx([0.0, math.log(0.1), math.log(50)], abs=0.1)


def test_weights_of_an_older_model_give_new_features_no_weight(tmp_path: Path) -> None:
    toy = Toy(parts=("popular", "ngram"), counts=QUERIES, policy=THOROUGH, mistakes=True)
    path, old = write_toy(tmp_path / "new.halfword", toy), 18
    header = read_header(path)
    arrays = {name: array for name, array in read_arrays(path, header).items() if not name.startswith(PADDING)}
    paths = tmp_path / "older.halfword", tmp_path / "weightless.halfword"
    for output, fill in zip(paths, (None, 0.0), strict=True):
        changed = {name: cut_down(name, array, old, fill) for name, array in arrays.items()}
        write_model(output, changed, header.card, policy=header.policy, features=header.features)
    found = [load(each).complete("britny sp", typos="auto", min_probability=0.0) for each in paths]
    assert [each.text for each in found[0]] == [each.text for each in found[1]]
    assert [each.score for each in found[0]] == pytest.approx([each.score for each in found[1]])


def cut_down(name: str, array: Array, size: int, fill: float | None) -> Array:
    """Return weights of the first features alone, or with others in place of the last ones."""
    if not name.startswith(("belief.", "glance.")) or name.endswith(("_bias", "output")):
        return array
    values = np.frombuffer(array.data, "<f4").reshape(-1, len(import_engine().belief_names()))
    kept = values[:, :size] if fill is None else values.copy()
    if fill is not None and not name.endswith("scale"):
        kept[:, size:] = fill
    return Array("F32", kept.tobytes())


def test_pairs_are_mined_from_sessions() -> None:
    counts = {"britney spears": 9, "madonna": 3}
    sessions = [["britny spears", "britney spears", "madonna"], ["madonna", "madonna songs"]]
    assert list(mine(sessions, counts)) == [Pair("britny spears", "britney spears")]
    assert not is_correction("madonna", "madonnas", {"madonnas": 5})  # it only goes on


def test_the_channel_learns_what_people_confuse() -> None:
    pairs = [Pair("definately", "definitely")] * 40
    learned, prior = Channel.learn(pairs, Channel.read()), Channel.read()
    i, a, o = ord("i") - 97, 0, ord("o") - 97
    assert learned.rates["substitute"][i, a] > 3 * prior.rates["substitute"][i, a]
    assert learned.rates["substitute"][i, a] > learned.rates["substitute"][i, o]
    assert len(learned.costs()) == 4 * 30 * 30 + 3
    assert min(learned.costs()) >= 0


def test_without_pairs_the_channel_is_the_one_that_ships() -> None:
    assert Channel.learn([], Channel.read()).costs() == pytest.approx(Channel.read().costs(), abs=1e-6)


@pytest.mark.parametrize(
    ("mistake", "row", "typed"),
    [
        (Pair("enviromental law", "environmental law"), "jobs environmental", "jobs enviromental"),
        (Pair("newyork times", "new york times"), "hotels new york", "hotels newyork"),
        (Pair("sponge bob", "spongebob"), "spongebob pictures", "sponge bob pictures"),
    ],
)
def test_mistakes_of_other_queries_are_made_again(mistake: Pair, row: str, typed: str) -> None:
    others = ["environment", "york", "bob"]  # without the words that were mistyped
    assert list(made_again([mistake], [row, *others], 5, random.Random(0))) == [Pair(typed, row)]


def test_a_query_of_far_commoner_words_corrects_another_that_was_typed_as_often() -> None:
    steps = [
        Pair("enviromental jobs ohio", "environmental jobs ohio"),
        Pair("tall bike shop ohio", "tall bake shop ohio"),  # one word is as common as the other
        Pair("enviromental jobs", "ohio weather"),
    ]
    often = {"environmental": 9, "enviromental": 1, "bike": 7, "bake": 7}
    assert list(train_mistakes(steps, {}, lambda word: often.get(word, 0))) == steps[:1]


def test_mistakes_count_more_where_people_correct_more(tmp_path: Path) -> None:
    shares = []
    for corrected in (0, 2, 8):
        folder = tmp_path / str(corrected)
        folder.mkdir()
        rows = ["garden hose", "kettle"] * 20 + ["britny spears", "britney spears"] * corrected
        (folder / "train.query.txt").write_text("britney spears\n" * 9 + "kettle\n", encoding="utf-8")
        for split in ("valid", "test"):
            (folder / f"{split}.query.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
        shares.append(belief_rows(open_dataset(folder), Channel.read(), []).share)
    assert 0 < shares[0] < shares[1] < shares[2]


def test_strangers_type_what_the_log_does_not_know() -> None:
    asked = strangers(["britney spears", "gulf cost accounting", "ab"], {"britney spears": 3})
    assert [each.query for each in asked] == ["gulf cost accounting"]


def test_known_queries_are_asked_from_a_later_word_on() -> None:
    asked = from_inside({"soupe à l'oignon": 9, "gratin": 4, "pot au feu": 3, "vin de x": 2})
    assert {each.query for each in asked} == {"soupe à l'oignon", "pot au feu"}
    assert all(each.prefix in each.query and not each.query.startswith(each.prefix) for each in asked)
    assert {each.prefix[0] for each in asked} <= {"l", "o", "f"}


def test_a_strangers_query_is_right_as_typed(model: Model) -> None:
    mistyped = Asked("britney spears", 9, mistyped="britny sp")
    stranger = Asked("britny spiegel", len("britny sp"))
    rows = read_rows(model, [mistyped], [mistyped], 1.0, [[stranger]])
    of_mistake, of_stranger = rows.chances[1], rows.chances[2]
    assert of_mistake[1] > of_mistake[0]
    assert of_stranger[0] > of_stranger[1:].max()
    assert rows.worth[2] > 0


def test_a_mistake_at_the_end_that_may_still_be_right_is_not_made_again() -> None:
    assert not list(made_again([Pair("shoe store", "shoes store")], ["red shoes"], 5, random.Random(0)))


@given(text=st.text("abc한국 é", min_size=5, max_size=12), seed=st.integers(0, 99))
def test_a_mistake_that_is_made_is_one_edit(text: str, seed: int) -> None:
    text = " ".join(text.split())
    made = mistype(text, Channel.read(), random.Random(seed))
    if spelled(made) != spelled(text):
        assert len(edits_of(Pair(made, text))) == 1


@given(text=st.text("abc한국삼성ㅅ é가각"))
def test_spelling_a_text_loses_nothing(text: str) -> None:
    assert unspelled(spelled(text)) == text


def test_words_of_scripts_without_spaces_are_no_words_of_the_tree() -> None:
    sizes = [len(word_tree(counts)["words.tree.letter"].data) for counts in ({"tea": 1}, {"tea": 1, "手机壳": 5})]
    assert sizes[0] == sizes[1]
    assert sizes[0] == 4  # the root and three letters


def words_in_tree(arrays: Mapping[str, Array]) -> dict[str, int]:
    """Return the words of a tree with their weights, as `engine/store/word_tree.h` lays them out."""
    read = {name.rpartition(".")[2]: np.frombuffer(array.data, KINDS[array.dtype]) for name, array in arrays.items()}
    ends = 128 if len(read["alphabet"]) <= 128 else 32768
    inner = dict(zip(read["inner"].tolist(), read["inner_weight"].tolist(), strict=True))
    bits = np.unpackbits(read["children"].view(np.uint8).reshape(-1, 2, 8), axis=2, bitorder="little")
    more = iter(read["more"].tolist())
    found: dict[str, int] = {}
    spelled_to, child = {0: ""}, 1
    for node, (letter, total) in enumerate(zip(read["letter"].tolist(), read["total"].tolist(), strict=True)):
        if node % 64 == 0:
            assert read["begin"][node // 64 * 2] == child
        has_children, has_several = bits[node // 64, :, node % 64]
        number = 1 + next(more) if has_several else int(has_children)
        for each in range(child, child + number):
            spelled_to[each] = spelled_to[node] + chr(read["alphabet"][int(read["letter"][each]) & (ends - 1)])
        child += number
        if letter & ends:
            found[spelled_to[node]] = inner.get(node, total)
            assert (node in inner) == (number > 0)
    assert [*more] == [0] * 64
    return found


@given(
    words=st.dictionaries(st.text("abcé", min_size=1, max_size=6), st.integers(1, 1000), max_size=60),
    letters=st.sampled_from([0, 40, 200]),
)
def test_the_tree_holds_every_word_with_its_weight(words: dict[str, int], letters: int) -> None:
    words |= {chr(0x400 + number): 3 for number in range(letters)}
    expected = {spelled(word): 1 + round(10 * math.log(count)) for word, count in words.items()}
    found = words_in_tree(word_tree(words))
    assert found.keys() == expected.keys()
    assert all(abs(found[word] - expected[word]) <= 1 for word in found)  # halves may be rounded either way


def test_a_mistake_far_down_in_a_large_tree_is_corrected(tmp_path: Path) -> None:
    draw = random.Random(5)
    words = ["".join(draw.choices("abcdefgh", k=14)) for _ in range(40_000)]
    path = tmp_path / "large.halfword"
    header = read_header(write_toy(path, Toy(parts=("popular", "ngram"), counts={"ab": 1}, mistakes=True)))
    arrays = {name: array for name, array in read_arrays(path, header).items() if not name.startswith(PADDING)}
    arrays |= word_tree(dict.fromkeys(words, 40) | {word[:10]: 50 for word in words[::9]})
    assert len(arrays["words.tree.total"].data) > 2**18  # more nodes than are listed when the file is opened
    write_model(path, arrays, header.card, policy=THOROUGH, features=header.features)
    large = load(path, cache=False)
    for word in words[:40]:
        assert f"{word} a" in corrections(large, f"{word[:11]}x{word[12:]} a")
    for word in words[:400:9]:
        assert f"{word[:10]} a" in corrections(large, f"{word[:8]}{word[9]} a")


def test_the_model_that_ships_corrects() -> None:
    (first,) = load().complete("bluetooh head", count=1)
    assert first.text.startswith("bluetooth head")
    assert first.corrected


def test_the_gradients_of_belief_are_those_of_its_cross_entropy() -> None:
    chance, readings, size = np.random.default_rng(1), 4, len(import_engine().belief_names())
    there = np.arange(readings) < np.array([[2], [4], [1], [3]])
    rows = ReadRows(
        chance.normal(size=(4, readings, size)), there, np.log(chance.random((4, readings))), np.array([1.0, 2, 0.5, 3])
    )
    flat = _Readings.of(rows, BeliefWeights.read("belief"))
    shapes = {"linear": (size,), "hidden": (3, size), "hidden_bias": (3,), "output": (3,)}
    values = {name: chance.normal(0, 0.3, shape) for name, shape in shapes.items()}
    gradients = _gradients(values, flat)
    for name, value in values.items():
        direction = chance.normal(size=value.shape)
        ahead, behind = (_cross_entropy(values | {name: value + step * direction}, flat) for step in (1e-5, -1e-5))
        assert (ahead - behind) / 2e-5 == pytest.approx(float((gradients[name] * direction).sum()), rel=1e-4)
