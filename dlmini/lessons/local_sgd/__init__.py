"""Lesson 07. Local-SGD, and DiLoCo: talk less often."""

NAME = "07_local_sgd"
