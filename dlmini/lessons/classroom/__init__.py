"""Lesson 14. The classroom as a cluster: reproduce, diagnose, repair."""

NAME = "14_classroom"
