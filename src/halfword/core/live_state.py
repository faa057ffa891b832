"""What a journal adds up to: its compaction, its lists, and what training and preparation take from it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from halfword.core.errors import LiveError
from halfword.core.folding import keys
from halfword.core.journal import About, Frame, Reader, Writer, changes_frame
from halfword.core.live import Change, Kind

_PER_FRAME = 10_000  # changes


@dataclass(slots=True)
class Summed:
    """The sum of all changes of a journal."""

    about: About
    number: int = 0  # of the last change
    time: float = 0.0
    typed: dict[int, Counter[str]] = field(default_factory=dict)  # by the number of the change up to which they count
    weights: dict[str, float] = field(default_factory=dict)
    boosts: dict[str, float] = field(default_factory=dict)
    removed: dict[str, None] = field(default_factory=dict)
    beginnings: dict[str, None] = field(default_factory=dict)
    pins: dict[tuple[str, str], float] = field(default_factory=dict)  # text and prefix: position
    accepted: Counter[str] = field(default_factory=Counter)

    def add(self, frame: Frame, until: int | None = None) -> None:
        """Add the changes of a frame; counts are kept apart by `until`."""
        factor = growth(self.about, frame.time)
        for content in frame.changes:
            self._add(Change.from_json(content), factor, frame.number if until is None else until)
        self.number, self.time = max(self.number, frame.number), max(self.time, frame.time)

    def _add(self, change: Change, factor: float, until: int) -> None:
        text = change.text
        match change.kind:
            case Kind.TYPED:
                self.typed.setdefault(until, Counter())[text] += change.number * factor  # type: ignore[assignment]
            case Kind.WEIGHT:
                self.weights[text] = change.number
            case Kind.BOOST:
                self.boosts[text] = change.number
            case Kind.REMOVED:
                self.removed[text] = None
            case Kind.REMOVED_BEGINNING:
                self.beginnings[text] = None
            case Kind.ALLOWED:
                own = set(keys(text)) or {text}
                for removed in (self.removed, self.beginnings):
                    for each in [each for each in removed if own & (set(keys(each)) or {each})]:
                        del removed[each]
            case Kind.PIN:
                self.pins[text, change.prefix] = change.number
            case Kind.UNPIN:
                self.pins.pop((text, change.prefix), None)
            case Kind.ACCEPTED:
                self.accepted[text] += int(change.number)

    def counts(self, after: int = 0) -> Counter[str]:
        """Return how often queries were typed, without the changes up to `after`."""
        total: Counter[str] = Counter()
        for until, counts in self.typed.items():
            if until > after:
                total.update(counts)
        return total

    def changes(self) -> Iterator[Change]:
        """Yield the changes that add up to the same, without the counts."""
        yield from (Change(Kind.WEIGHT, text, number) for text, number in self.weights.items() if number >= 0)
        yield from (Change(Kind.BOOST, text, number) for text, number in self.boosts.items() if number != 1)
        yield from (Change(Kind.REMOVED, text) for text in self.removed)
        yield from (Change(Kind.REMOVED_BEGINNING, text) for text in self.beginnings)
        yield from (Change(Kind.PIN, text, number, prefix) for (text, prefix), number in self.pins.items())
        yield from (Change(Kind.ACCEPTED, text, number) for text, number in self.accepted.items())


def growth(about: About, when: float) -> float:
    """Return what a query typed at a time counts, where one typed when the journal was begun counts 1."""
    if about.half_life_days is None:
        return 1.0
    return float(2.0 ** min((when - about.begun) / (about.half_life_days * 86_400), 1000.0))


def read_summed(path: Path, folds: Iterable[int] = ()) -> tuple[Summed, int]:
    """Read a whole journal, and how many bytes it has; counts are kept apart at the numbers `folds`."""
    reader = Reader(path)
    _, frames = reader.poll()
    if reader.about is None:
        raise LiveError(f"{path}: there is no such journal")
    summed, borders = Summed(reader.about), sorted(folds)
    for frame in frames:
        summed.add(frame, next((border for border in borders if border >= frame.number), 2**62))
    if 2**62 in summed.typed:
        summed.typed[max(reader.number, 1)] = summed.typed.pop(2**62)
    summed.number = reader.number
    return summed, reader.position


def compact(path: Path, folds: Iterable[int] = ()) -> tuple[int, int]:
    """Write the sum of a journal in its place; returns its bytes before and after.

    Counts are not added up across the numbers `folds`: up to one of them a model may have learned the journal.
    """
    writer = Writer(path)
    summed, size = read_summed(path, folds)
    frames = []
    begun = summed.about.begun  # counts are kept as they count at that time
    for until, counts in sorted(summed.typed.items()):
        typed = [Change(Kind.TYPED, text, number).to_json() for text, number in counts.items()]
        frames += [changes_frame(until, begun, part) for part in _parts(typed)]
    others = [change.to_json() for change in summed.changes()]
    frames += [changes_frame(summed.number, max(summed.time, begun), part) for part in _parts(others)]
    body = b"".join(frames)
    about = replace(summed.about, compacted=summed.number, compacted_bytes=len(body))
    writer.replace(about, body, size)
    return size, path.stat().st_size


def _parts(changes: list[Any]) -> Iterator[list[Any]]:
    for begin in range(0, len(changes), _PER_FRAME):
        yield changes[begin : begin + _PER_FRAME]


class Removed:
    """Tells which texts are removed, in whatever way they are written: what `prepare` and `train` leave out."""

    def __init__(self, exact: Iterable[str] = (), beginnings: Iterable[str] = ()) -> None:
        self._exact = {key for text in exact for key in (*keys(text), text)}
        by_length: dict[int, set[str]] = defaultdict(set)
        for text in beginnings:
            for key in keys(text) or [text]:
                by_length[len(key)].add(key)
        self._beginnings = dict(by_length)

    @classmethod
    def all_of(cls, several: Iterable["Removed"]) -> "Removed":
        """Return what any of several removes."""
        joined = cls()
        for each in several:
            joined._exact |= each._exact
            for length, found in each._beginnings.items():
                joined._beginnings.setdefault(length, set()).update(found)
        return joined

    def __bool__(self) -> bool:
        return bool(self._exact or self._beginnings)

    def removes(self, text: str) -> bool:
        """Tell whether a normalised text is removed."""
        if text in self._exact or self._begins(text):
            return True
        return any(key in self._exact or self._begins(key) for key in keys(text))

    def _begins(self, key: str) -> bool:
        return any(key[:length] in found for length, found in self._beginnings.items())


def read_removed(path: Path) -> Removed:
    """Read what is removed: from a journal, or from a text file with one query per line, `new y*` for a beginning."""
    from halfword.core.text import normalise_prefix, normalise_query

    try:
        with path.open("rb") as stream:
            is_journal = stream.read(8) == b"HALFLIVE"
        if is_journal:
            summed, _ = read_summed(path)
            return Removed(summed.removed, summed.beginnings)
        lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise LiveError(f"{path}: what is removed cannot be read ({error})") from error
    beginnings = [normalise_prefix(line[:-1]) for line in lines if line.endswith("*")]
    return Removed([normalise_query(line) for line in lines if not line.endswith("*")], filter(None, beginnings))
