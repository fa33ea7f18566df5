"""`python -m dlmini` is the command `dlmini`."""

from dlmini.cli import main

main()
