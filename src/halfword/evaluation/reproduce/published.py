"""The figures that the paper reports (Kim 2019, table 1), for the full AOL log; ours need not equal them."""

from dataclasses import dataclass

Three = tuple[float, float, float]  # seen, unseen, all


@dataclass(frozen=True, slots=True)
class Published:
    """A line of the paper's table; queries per second on one Xeon and on a P40."""

    mrr: Three
    pmrr: Three  # includes the free match that `SearchOptions.echo` repeats
    mrl: Three
    cpu: float | None = None
    gpu: float | None = None
    decode_length: float | None = None


# fmt: off
PUBLISHED = {
    "mpc": Published((.570, .000, .290), (.616, .095, .360), (8.06, 0.00, 4.10)),
    "char": Published((.458, .160, .311), (.552, .372, .464), (5.77, 4.24, 5.02), 11.0, 16.5, 14.5),
    "bpe-256": Published((.242, .085, .164), (.305, .232, .269), (0.49, 0.54, 0.51), 24.2, 37.4, 7.1),
    "bpe-256-r1": Published((.427, .156, .294), (.517, .368, .444), (5.28, 3.98, 4.64), 15.8, 27.3, 11.8),
    "bpe-256-r2": Published((.430, .157, .296), (.520, .369, .446), (5.44, 4.01, 4.74), 15.5, 27.2, 12.2),
    "bpe-256-r": Published((.431, .157, .296), (.520, .369, .446), (5.50, 4.01, 4.76), 15.3, 26.9, 12.2),
    "sr-256": Published((.422, .148, .288), (.541, .379, .461), (5.11, 3.82, 4.48), 20.8, 40.1, 6.8),
    "sr-256-m": Published((.424, .149, .289), (.535, .373, .455), (5.14, 3.85, 4.50), 19.6, 40.0, 6.8),
    "sr-256-r": Published((.423, .148, .289), (.541, .378, .461), (5.14, 3.83, 4.50), 16.3, 29.6, 7.4),
    "sr-256-r-m": Published((.427, .150, .291), (.538, .375, .458), (5.19, 3.88, 4.54), 16.2, 28.7, 7.4),
}
# fmt: on
