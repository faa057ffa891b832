"""What a journal adds up to: its compaction, its lists, and what training and preparation take from it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from halfword.core.errors import LiveError
from halfword.core.folding import keys
from halfword.core.journal import LONGEST_OPENING, About, Frame, Reader, Writer, changes_frame, read_about
from halfword.core.live import Change, Kind

DAYS_APART = 28  # for which counts are kept by day
_PER_FRAME = 10_000  # changes
_LEAST_GROWTH = 4 * 2**20  # bytes
_MOST_LEARNED = 64  # models that are told apart; with one every night, one can go back two months


@dataclass(slots=True)
class Stretch:
    """What was typed on one day; a model has learned all of it or nothing."""

    until: int  # the number of the last change
    time: float  # of the last change
    counts: Counter[str] = field(default_factory=Counter)  # as they count when the journal was begun


@dataclass(slots=True)
class Summed:
    """The sum of all changes of a journal."""

    about: About
    number: int = 0  # of the last change
    time: float = 0.0
    stretches: list[Stretch] = field(default_factory=list)  # in the order of time
    learned: list[int] = field(default_factory=list)  # up to these numbers models have learned it
    weights: dict[str, float] = field(default_factory=dict)
    boosts: dict[str, float] = field(default_factory=dict)
    removed: dict[str, None] = field(default_factory=dict)
    beginnings: dict[str, None] = field(default_factory=dict)
    pins: dict[tuple[str, str], float] = field(default_factory=dict)  # text and prefix: position
    accepted: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.learned = list(self.about.learned)

    def add(self, frame: Frame) -> None:
        """Add the changes of a frame."""
        self.number, self.time = max(self.number, frame.number), max(self.time, frame.time)
        stretch, factor = self._stretch_of(frame), growth(self.about, frame.time)
        for content in frame.changes:
            self._add(Change.from_json(content), stretch, factor)

    def _stretch_of(self, frame: Frame) -> Stretch:
        """Return where the counts of a frame belong: what a model has learned is kept apart, and so are days."""
        last = self.stretches[-1] if self.stretches else None
        if last is None or day_of(frame.time) > day_of(last.time) or self._borders(last.until, frame.number):
            last = Stretch(frame.number, frame.time)
            self.stretches.append(last)
        last.until, last.time = max(last.until, frame.number), max(last.time, frame.time)
        return last

    def _borders(self, first: int, second: int) -> bool:
        return any(first <= number < second for number in self.learned)

    def _add(self, change: Change, stretch: Stretch, factor: float) -> None:
        text = change.text
        match change.kind:
            case Kind.TYPED:
                stretch.counts[text] += change.number * factor  # type: ignore[assignment]
            case Kind.LEARNED:
                self.learned.append(stretch.until)
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

    def counts(self, after: int = 0, until: int | None = None) -> Counter[str]:
        """Return how often queries were typed, by the changes after one number and up to another."""
        total: Counter[str] = Counter()
        for stretch in self.stretches:
            if stretch.until > after and (until is None or stretch.until <= until):
                total.update(stretch.counts)
        return total

    def joined(self) -> Iterator[Stretch]:
        """Yield the counts as compaction keeps them: old days are added up."""
        kept = set(self.learned[-_MOST_LEARNED:])
        old = day_of(self.time) - DAYS_APART
        waiting: Stretch | None = None
        for stretch in self.stretches:
            if waiting is not None and (waiting.until in kept or day_of(stretch.time) >= old):
                yield waiting
                waiting = None
            earlier = Counter() if waiting is None else waiting.counts
            waiting = Stretch(stretch.until, stretch.time, earlier + stretch.counts)
        if waiting is not None:
            yield waiting

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


def day_of(when: float) -> int:
    """Return the day of a time, counted from 1970, in UTC."""
    return int(when // 86_400)


def read_summed(path: Path) -> tuple[Summed, Reader]:
    """Read a whole journal; the reader stands at its end."""
    reader = Reader(path)
    summed: Summed | None = None
    while True:
        restarted, frames = reader.poll()
        if reader.about is None:
            raise LiveError(f"{path}: there is no such journal")
        if summed is None or restarted:
            summed = Summed(reader.about)
        summed.about = reader.about  # compaction may have replaced the file meanwhile
        if not frames:
            summed.number = reader.number
            return summed, reader
        for frame in frames:
            summed.add(frame)


def mark_learned(path: Path) -> int:
    """Write into a journal that a model learns it; returns the number up to which it does.

    Compaction never adds up counts across this number, so a server can tell which of them the model has learned.
    """
    return Writer(path).append([Change(Kind.LEARNED, "")])


def compact(path: Path) -> tuple[int, int]:
    """Write the sum of a journal in its place; returns its bytes before and after."""
    writer = Writer(path)
    summed, reader = read_summed(path)
    frames = []
    for stretch in summed.joined():
        factor = growth(summed.about, stretch.time)
        typed = [Change(Kind.TYPED, text, number / factor).to_json() for text, number in stretch.counts.items()]
        frames += [changes_frame(stretch.until, stretch.time, part) for part in _parts(typed)]
    others = [change.to_json() for change in summed.changes()]
    frames += [changes_frame(summed.number, max(summed.time, summed.about.begun), part) for part in _parts(others)]
    body, learned = b"".join(frames), tuple(summed.learned[-_MOST_LEARNED:])
    about = replace(summed.about, compacted=summed.number, compacted_bytes=len(body), learned=learned, file="")
    writer.replace(about, body, reader)
    return reader.position, path.stat().st_size


def is_overgrown(path: Path) -> bool:
    """Tell whether a journal has grown by more than compaction has left of it, and by enough to be worth the work."""
    try:
        with path.open("rb") as stream:
            about, end = read_about(path, stream.read(LONGEST_OPENING))
        grown = path.stat().st_size - end - about.compacted_bytes
    except (OSError, LiveError):  # whoever writes to it will say what is wrong
        return False
    return about.follows is None and grown > max(about.compacted_bytes, _LEAST_GROWTH)


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
