"""`python -m halfword` and `halfword` begin here, so that Ctrl-C is quiet from the start."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it with one line and the status that shells expect."""
    try:
        from halfword.cli.main import main as run

        run()
    except KeyboardInterrupt:
        from halfword.core.errors import INTERRUPTED

        print("halfword: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
