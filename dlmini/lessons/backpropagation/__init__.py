"""Lesson 01. Backpropagation by hand, and descent with batches of any size."""

NAME = "01_backpropagation"
