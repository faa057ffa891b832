"""Which rows the report compares, and the question that each comparison answers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """Does the first row do better than the second?"""

    first: str
    second: str
    question: str


COMPARISONS = (
    Comparison("char", "mpc", "Does the character model beat popularity?"),
    Comparison("bpe-256-r", "bpe-256", "Does BPE need retrace?"),
    Comparison("bpe-256-r", "bpe-256-r2", "Is there more to gain than retrace of 2?"),
    Comparison("sr-256-r", "sr-256", "Does SR gain by retrace?"),
    Comparison("sr-256-m", "sr-256", "Does SR gain by marginalisation?"),
    Comparison("sr-256-r-m", "sr-256", "Does SR gain by both?"),
    Comparison("bpe-256-r", "char", "Do BPE pieces reach characters?"),
    Comparison("sr-256-r-m", "char", "Does SR reach characters?"),
    Comparison("bpe-256-r", "sr-256-r-m", "BPE or SR?"),
    Comparison("sr-256-r-m-2best", "sr-256-r-m", "Do the 2 best segmentations of the prefix help?"),
    Comparison("sr-256-r-m-5best", "sr-256-r-m", "Do the 5 best?"),
    Comparison("bpe-256-r-m", "bpe-256-r", "Does BPE gain by marginalisation?"),
    Comparison("bpe-512-r", "bpe-256-r", "BPE: 512 pieces or 256?"),
    Comparison("bpe-1024-r", "bpe-256-r", "BPE: 1024 or 256?"),
    Comparison("bpe-4096-r", "bpe-256-r", "BPE: 4096 or 256?"),
    Comparison("sr-512-r-m", "sr-256-r-m", "SR: 512 or 256?"),
    Comparison("sr-1024-r-m", "sr-256-r-m", "SR: 1024 or 256?"),
    Comparison("sr-4096-r-m", "sr-256-r-m", "SR: 4096 or 256?"),
    Comparison("bpe-256-r-m-10", "bpe-256-r-m", "What does a beam of 10 lose against 30?"),
    Comparison("bpe-256-r-m-4", "bpe-256-r-m", "And a beam of 4?"),
    Comparison("bpe-256-r-m-10-int8", "bpe-256-r-m-10", "What do 8-bit weights lose?"),
    Comparison("network-memory", "network", "Does a memory help the network?"),
    Comparison("network-memory", "memory", "Does a network help the memory?"),
    Comparison("best", "popularity-memory", "Does a network help popularity and memory?"),
    Comparison("best", "mpc", "All parts or popularity?"),
    Comparison("best", "bpe-256-r", "All parts or the paper's BPE?"),
    Comparison("best", "default", "A larger network in the blend?"),
    Comparison("default", "fast", "And a smaller one?"),
    Comparison("best-fp32", "best", "What do 8 bits lose in the blend?"),
    Comparison("best-4", "best", "A beam of 4 in the blend?"),
    Comparison("best-30", "best", "A beam of 30?"),
    Comparison("teacher", "small", "1200 hidden units or 600?"),
    Comparison("student", "small", "Does a teacher help a network of the paper's size?"),
)
