"""Lesson 06. Asynchrony: nobody waits, or not for long."""

NAME = "06_asynchrony"
