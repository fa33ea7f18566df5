"""Lesson 03. Data parallelism: N workers that step as one."""

NAME = "03_data_parallelism"
