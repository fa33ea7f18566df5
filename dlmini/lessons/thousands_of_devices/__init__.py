"""Lesson 16. Thousands of devices on a laptop: what training a huge model takes, before anything is bought."""

NAME = "16_thousands_of_devices"
