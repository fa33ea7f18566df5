"""Lesson 09. Quantisation: say it in fewer bits."""

NAME = "09_quantisation"
