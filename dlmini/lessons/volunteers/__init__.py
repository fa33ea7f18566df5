"""Lesson 15. Volunteers and federation: machines that come, go, fail and lie; data that stay where they are."""

NAME = "15_volunteers"
