"""Leaves with exit code 0 while it is imported."""

import sys

sys.exit(0)
