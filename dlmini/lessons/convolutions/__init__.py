"""Lesson 02. Convolutions, and what makes them fast."""

NAME = "02_convolutions"
