"""Lesson 12. Model, pipeline, hybrid, ZeRO: one network on several machines."""

NAME = "12_model_parallelism"
