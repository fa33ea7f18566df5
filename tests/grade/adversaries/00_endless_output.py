"""Prints for ever, by every way there is."""

import contextlib
import os
import sys


def attack(*args, **kwargs):
    while True:
        with contextlib.suppress(OSError):
            print("x" * 10_000)
        for stream in (1, 2):
            with contextlib.suppress(OSError):
                os.write(stream, b"y" * 10_000)
        sys.stderr.write("z")
