"""Lesson 10. Sparsification: say only what is large."""

NAME = "10_sparsification"
