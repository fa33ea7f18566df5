"""Lesson 17. Capstone: a budget, a network, a deadline, and an entry of one's own."""

NAME = "17_capstone"
