"""A card is typed, survives JSON, and keeps what this version does not know."""

import json
from pathlib import Path

import pytest

from halfword.core.card import Card, NetworkCard, PartsCard, PopularCard
from halfword.core.errors import ModelFileError
from halfword.core.model_file import FORMAT, read_header, write_model
from halfword.core.policy import DEFAULT_POLICY


def test_a_card_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    network = NetworkCard(hidden_size=400, options={"teachers": []}, best={"epoch": 3, "valid_loss": 1.5})
    parts = PartsCard(network=network, popular=PopularCard(queries=7, rows=25))
    card = Card(profile="paper", parts=parts, data={"source": ["log.txt"]}, note="서울")
    write_model(tmp_path / "my.halfword", {}, card)
    assert read_header(tmp_path / "my.halfword").card == card


def test_fields_of_a_later_version_are_kept_at_every_level() -> None:
    later = {"profile": "default", "parts": {"ranker": {"weights": 9}, "popular": {"rows": 2, "live": True}}, "x": [1]}
    card = Card.from_json(later)
    assert card.parts.popular == PopularCard(rows=2, other={"live": True})
    assert card.to_json() == later


@pytest.mark.parametrize(
    ("card", "line"),
    [
        ({"parts": []}, r"in its card, parts must be an object, got \[\]"),
        ({"parts": {"popular": 5}}, "in its card, popular must be an object, got 5"),
        ({"profile": ["default"]}, r"in its card, profile must be text, got \['default'\]"),
        ({"parts": {"popular": {"rows": "many"}}}, "in its card, rows must be a whole number, got 'many'"),
    ],
)
def test_a_card_of_the_wrong_shape_is_damage(card: dict[str, object], line: str, tmp_path: Path) -> None:
    policy = json.dumps(DEFAULT_POLICY.to_json())
    header = json.dumps(
        {"__metadata__": {"halfword": str(FORMAT), "card": json.dumps(card), "policy": policy}}
    ).encode()
    path = tmp_path / "my.halfword"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelFileError, match=f"is damaged: {line}"):
        read_header(path)
