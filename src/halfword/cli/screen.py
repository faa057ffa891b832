"""A full-screen type-ahead in the terminal: completions change at every key, one model or two side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VSplit, Window
from prompt_toolkit.styles import Style

from halfword.core.errors import TextError
from halfword.core.folding import matched
from halfword.core.options import SearchOptions
from halfword.core.text import normalise_prefix
from halfword.search.model import Completer, Completion

Action = Callable[[KeyPressEvent], None]

ROWS = 10
_HELP = " Tab or → accepts   ↑ ↓ choose   Ctrl-U empties   Esc leaves"
_HELP_FOR_TWO = " Tab accepts   ↑ ↓ choose   ← → change the model   Ctrl-U empties   Esc leaves"
_STYLE = Style.from_dict(
    {
        "title": "bold",
        "chosen": "reverse",
        "added": "bold",
        "faint": "ansibrightblack",
        "help": "reverse",
    }
)


@dataclass(frozen=True, slots=True)
class Contender:
    """A model that takes part, and what it is called."""

    name: str
    completer: Completer


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to a key, and how long it took."""

    completions: list[Completion]
    milliseconds: float


def answer(contender: Contender, typed: str, options: SearchOptions) -> Answer:
    """Complete `typed`; what is no text yet has no completions."""
    begin = perf_counter()
    try:
        completions = contender.completer.complete(typed, options)
    except TextError:
        completions = []
    return Answer(completions, (perf_counter() - begin) * 1000)


class TryOut:
    """The screen: what was typed, what each model makes of it, and which completion is chosen."""

    def __init__(self, contenders: Sequence[Contender]) -> None:
        self._contenders = contenders
        self._options = SearchOptions(count=ROWS)
        self._model, self._row = 0, 0  # the choice
        self._typed = Buffer(multiline=False, on_text_changed=lambda _: self._ask())
        self._answers: list[Answer] = []
        self._ask()
        self._application: Application[None] = Application(
            Layout(self._screen()), key_bindings=self._keys(), style=_STYLE, full_screen=True
        )
        self._application.ttimeoutlen = 0.05  # Escape alone is told from an arrow's first byte by waiting

    def run(self) -> None:
        """Show the screen until the user leaves it."""
        self._application.run()

    def _ask(self) -> None:
        self._row = 0
        self._answers = [answer(contender, self._typed.text, self._options) for contender in self._contenders]

    def _screen(self) -> HSplit:
        prompt = Window(FormattedTextControl([("class:title", " Search: ")]), width=9, dont_extend_width=True)
        columns: list[Window] = []
        for number in range(len(self._contenders)):
            if columns:
                columns.append(Window(width=1, char="│", style="class:faint"))
            columns.append(Window(FormattedTextControl(partial(self._column, number)), wrap_lines=False))
        help_text = _HELP if len(self._contenders) == 1 else _HELP_FOR_TWO
        return HSplit(
            [
                Window(height=1),
                VSplit([prompt, Window(BufferControl(self._typed), height=1)], height=1),
                Window(height=1, char="─", style="class:faint"),
                VSplit(columns, height=ROWS + 2),
                Window(),
                Window(FormattedTextControl(help_text), height=1, style="class:help"),
            ]
        )

    def _column(self, number: int) -> StyleAndTextTuples:
        """Return the lines of one model: its name, the time it took, its completions."""
        said = self._answers[number]
        lines: StyleAndTextTuples = [
            ("class:title", f" {self._contenders[number].name}"),
            ("class:faint", f"  {said.milliseconds:.2f} ms\n"),
        ]
        for row, completion in enumerate(said.completions):
            lines += self._line(completion, chosen=(number, row) == (self._model, self._row))
        if not said.completions:
            lines.append(("class:faint", " nothing to offer\n"))
        return lines

    def _line(self, completion: Completion, *, chosen: bool) -> StyleAndTextTuples:
        mark, style = ("›", "class:chosen") if chosen else (" ", "")
        typed = normalise_prefix(self._typed.text)
        begin = completion.matched if completion.corrected else matched(completion.text, typed)
        return [
            (style, f"{mark}{completion.display[:begin]}"),
            (f"{style} class:added", completion.display[begin:]),
            ("class:faint", f"  {completion.source}{', corrected' if completion.corrected else ''}\n"),
        ]

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        actions: dict[str, Action] = {
            "c-c": lambda event: event.app.exit(),
            "c-d": lambda event: event.app.exit(),
            "escape": lambda event: event.app.exit(),
            "tab": lambda event: self._accept(),
            "enter": lambda event: self._accept(),
            "down": lambda event: self._move(1),
            "up": lambda event: self._move(-1),
            "right": lambda event: self._right(),
            "left": lambda event: self._left(),
        }
        for name, action in actions.items():
            keys.add(name, eager=True)(action)
        return keys

    def _move(self, step: int) -> None:
        last = max(len(self._answers[self._model].completions) - 1, 0)
        self._row = min(max(self._row + step, 0), last)

    def _accept(self) -> None:
        completions = self._answers[self._model].completions
        if completions:
            self._typed.text = f"{completions[self._row].text} "
            self._typed.cursor_position = len(self._typed.text)

    def _right(self) -> None:
        """At the end of the text: to the next model, or, in the last one, accept."""
        if self._typed.cursor_position < len(self._typed.text):
            self._typed.cursor_position += 1
        elif self._model + 1 < len(self._contenders):
            self._model += 1
            self._move(0)
        else:
            self._accept()

    def _left(self) -> None:
        if self._model:
            self._model -= 1
            self._move(0)
        elif self._typed.cursor_position:
            self._typed.cursor_position -= 1
