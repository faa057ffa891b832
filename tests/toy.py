"""Small models with random weights, written without training."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from halfword.core.card import Card
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.policy import DEFAULT_POLICY, Policy
from halfword.data.query_table import QueryTable
from halfword.search.model import engine_policy, import_engine, open_model_file
from halfword.training.channel import Channel
from halfword.training.companions import learn_companions
from halfword.training.correcting import prior_arrays
from halfword.training.folding import learn_forms
from halfword.training.from_table import WordColumns, word_counts_of
from halfword.training.kneser_ney import Corpus
from halfword.training.known_words import word_arrays
from halfword.training.network.weights import Weights, network_arrays
from halfword.training.ngram import NgramOptions, learn_ngram
from halfword.training.other_order import learn_order
from halfword.training.pinyin import pinyin_arrays
from halfword.training.ranker import RankerWeights
from halfword.training.spellings import learn_spellings
from halfword.training.train import popular_arrays
from halfword.training.word_tree import others_tree, word_tree

if TYPE_CHECKING:
    from halfword import _engine

SPECIALS = ["<unk>", "<s>", "</s>"]
PIECES = ["▁", "a", "b", "c", "d", "▁a", "▁ab", "ab", "abc", "▁b", "bc", "cd", "bcd", "▁cab", "da", "▁d", "é", "한국"]
COUNTS = {"ab": 9, "ab cab": 5, "abc": 4, "abcd": 1, "bcd a": 3, "cab d": 2, "da": 2}
MEMORY = NgramOptions(order=4)
SHOWS_ALL = replace(
    DEFAULT_POLICY,
    min_probability=0.0,
    invented_min_probability=0.0,
    often_typed=0.0,
    known_typed=0.0,
    search_min_probability=0.0,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy:
    """The shape of a random model."""

    parts: tuple[str, ...] = ("network",)
    pieces: tuple[str, ...] = tuple(PIECES)
    segmentation: str = "bpe"
    embedding: int = 8
    hidden: int = 12
    layers: int = 1
    summary: int = 0  # numbers that the hidden values are summed up in for the next step; 0 for all of them
    spread: float = 1.5  # of the weights: larger makes surer predictions
    seed: int = 0
    counts: Mapping[str, int] = field(default_factory=lambda: COUNTS)  # what popularity and memory learn from
    memory: NgramOptions = MEMORY
    background_words: tuple[str, ...] = ()
    words: bool = False  # whether words that were typed together are remembered too
    spellings: bool = False  # whether queries are looked for in other spellings too
    arrays: Mapping[str, list[float]] = field(default_factory=dict)  # of 32-bit floats, that replace others
    policy: Policy = SHOWS_ALL
    pointer: int = 0  # numbers of a key with which pieces of earlier queries are found; 0: nothing is copied
    mistakes: bool = False  # corrected, where popularity is a part
    others: Mapping[str, int] = field(default_factory=dict)  # words of other people, who may not make these mistakes
    pinyin: Mapping[str, list[str]] = field(default_factory=dict)  # what is typed for every character of a query
    heard: Mapping[str, str] = field(default_factory=dict)  # and for other characters
    order: int = 0  # queries that are listed of every word, to find them in another order; 0: none
    endings: tuple[tuple[str, str], ...] = ()  # that take turns in words
    ending: float = 0.0  # the most that an end is said to cost after a piece; 0 says nothing


def write_toy(path: Path, toy: Toy) -> Path:
    """Write a model file of the parts that `toy` names."""
    chance = np.random.default_rng(toy.seed)
    card = Card.from_json({"profile": "default", "parts": {part: {} for part in toy.parts}})
    arrays: dict[str, Array] = {}
    if {"network", "ngram"} & set(toy.parts):
        arrays |= piece_arrays(toy, chance)
    if "network" in toy.parts:
        arrays |= network_arrays(random_weights(toy, chance))
        arrays |= random_pointer(toy) if toy.pointer else {}
    if "ngram" in toy.parts:
        write_model(path, arrays, card)  # the engine cuts queries into the pieces of a file
        arrays |= memory_arrays(path, toy)
        arrays |= learn_companions(toy.counts) if toy.words else {}
    if "popular" in toy.parts:
        arrays |= popular_arrays(dict(toy.counts))
        arrays |= learn_spellings(list(toy.counts), lambda query: False) if toy.spellings else {}
        arrays |= word_arrays(toy.counts, toy.background_words) | learn_forms(toy.counts)
        arrays |= word_counts_of(WordColumns.of(QueryTable.of(toy.counts)), 1)
        if toy.mistakes:
            arrays |= word_tree(toy.counts) | others_tree(toy.others) | Channel.read().arrays() | prior_arrays()
        arrays |= learn_order(toy.counts, toy.order) if toy.order else {}
        turns = "".join(f"{one} {other}\n" for one, other in toy.endings).encode()
        arrays |= {"words.endings": Array("U8", turns)} if turns else {}
        arrays |= pinyin_arrays(toy.counts, toy.pinyin, toy.heard)
        arrays |= random_ranker(chance).arrays() | random_ranker(chance, "session").arrays("ranker.session")
    for name, values in toy.arrays.items():
        arrays[name] = Array("F32", np.array(values, "<f4").tobytes())
    if toy.ending:
        costs = chance.uniform(0, toy.ending, len(SPECIALS) + len(toy.pieces))
        arrays["ending.cost"] = Array("F32", costs.astype("<f4").tobytes())
    features = import_engine().feature_names() if len(toy.parts) > 1 else ()
    write_model(path, arrays, card, policy=toy.policy, features=features)
    return path


def random_pointer(toy: Toy) -> dict[str, Array]:
    """Return a pointer that copies now and then."""
    chance = np.random.default_rng(toy.seed + 1)
    shapes = {"query": (toy.pointer, toy.hidden), "key": (toy.pointer, toy.hidden), "nothing": (toy.hidden,)}
    shapes |= {"nothing_bias": (1,), "age": (3,), "by_class": (32,)}
    values = {name: chance.normal(0, toy.spread, shape).astype("<f4") for name, shape in shapes.items()}
    return {f"pointer.{name}": Array("F32", value.tobytes(), value.shape) for name, value in values.items()}


def random_ranker(chance: np.random.Generator, part: str = "weights") -> RankerWeights:
    """Return the weights that ship, each a little changed."""
    weights = RankerWeights.read(part=part)
    names = ("linear", "hidden", "hidden_bias", "output", "none")
    shaken = {name: getattr(weights, name) for name in names}
    return replace(
        weights, **{name: (value + chance.normal(0, 0.1, value.shape)).astype("f4") for name, value in shaken.items()}
    )


def policy_for(count: int) -> "_engine.Policy":
    """Return a policy under which a source proposes so many completions."""
    policy = engine_policy(DEFAULT_POLICY)
    policy.page = count
    return policy


def memory_arrays(path: Path, toy: Toy) -> dict[str, Array]:
    """Return a memory of the toy's queries, cut into the pieces of the model file `path`."""
    segmenter = import_engine().Segmenter(open_model_file(path, read_header(path)))
    queries = zip(segmenter.segment_batch(list(toy.counts)), toy.counts.values(), strict=True)
    corpus = Corpus.of(queries, vocabulary=len(SPECIALS) + len(toy.pieces), begin=1, end=2)
    return learn_ngram(corpus, toy.memory)


def piece_arrays(toy: Toy, chance: np.random.Generator) -> dict[str, Array]:
    """Return the vocabulary: specials, then the pieces with falling scores (BPE's merge order) or random ones."""
    texts = [text.encode() for text in (*SPECIALS, *toy.pieces)]
    begins = np.cumsum([0, *map(len, texts)]).astype("<u4")
    falling = -np.arange(len(texts), dtype="<f4")
    scores = falling if toy.segmentation == "bpe" else chance.uniform(-9, -1, len(texts)).astype("<f4")
    kinds = np.array([2, 3, 3] + [1] * len(toy.pieces), "<u1")
    special = np.array([["char", "bpe", "unigram"].index(toy.segmentation), 0, 1, 2], "<u4")
    return {
        "pieces.special": Array("U32", special.tobytes()),
        "pieces.text": Array("U8", b"".join(texts)),
        "pieces.begin": Array("U32", begins.tobytes()),
        "pieces.score": Array("F32", scores.tobytes()),
        "pieces.kind": Array("U8", kinds.tobytes()),
    }


def random_weights(toy: Toy, chance: np.random.Generator) -> Weights:
    """Return weights of the right shapes."""
    size, gates = len(SPECIALS) + len(toy.pieces), 3 * toy.hidden

    def draw(*shape: int, spread: float = toy.spread) -> NDArray[np.float32]:
        return chance.normal(0, spread, shape).astype(np.float32)

    weights = {
        "embedding": draw(size, toy.embedding),
        "output_bias": draw(size),
        "projection": draw(toy.embedding, toy.hidden),
        "projection_bias": draw(toy.embedding),
    }
    for layer in range(toy.layers):
        inputs = toy.embedding if layer == 0 else toy.hidden
        weights[f"layer{layer}.input"] = draw(gates, inputs, spread=inputs**-0.5)
        handed_on = toy.summary or toy.hidden
        weights[f"layer{layer}.recurrent"] = draw(gates, handed_on, spread=handed_on**-0.5)
        if toy.summary:
            weights[f"layer{layer}.summary"] = draw(toy.summary, toy.hidden, spread=toy.hidden**-0.5)
        weights[f"layer{layer}.norm_scale"] = 1 + draw(gates, spread=0.3)
        weights[f"layer{layer}.norm_bias"] = draw(gates, spread=0.3)
    return weights
