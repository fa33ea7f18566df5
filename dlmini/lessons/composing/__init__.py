"""Lesson 11. Composing: the ten configurations, and all the others."""

NAME = "11_composing"
