"""Lesson 13. Sandblaster L-BFGS: portions on demand, and each counted once."""

NAME = "13_sandblaster"
