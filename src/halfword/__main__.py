"""`python -m halfword` is the command line."""

from halfword.cli import main

main()
