"""Lesson 04. All-reduce: a sum that everybody gets."""

NAME = "04_allreduce"
