"""What the machine has."""

import os
from pathlib import Path

_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container


def machine_memory() -> int:
    """Return the bytes of memory that this process may use at the most."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(physical, int(_LIMIT.read_text()))
    except (OSError, ValueError):  # there is no such file, or it says "max"
        return physical
