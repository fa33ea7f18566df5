"""Waiting for whichever of many pipes and processes has something to say.

Windows waits for at most 63 of them in one call (WaitForMultipleObjects takes 64, and Python adds Ctrl-C), and every
rank has two: a pipe, and the sign that it has ended. More are watched in groups, one after the other, each for a short
while; elsewhere there is one group, and nobody is looked at in vain.
"""

from __future__ import annotations

import sys
import time

from multiprocess import connection

MOST = 63 if sys.platform == "win32" else sys.maxsize
WHILE = 0.002  # seconds for one group, where there are several


def wait(signs: list, timeout: float) -> list:
    """All of the signs that are there; as soon as one is, or none after so many seconds."""
    if len(signs) <= MOST:
        return connection.wait(signs, timeout)
    groups, end = [signs[at : at + MOST] for at in range(0, len(signs), MOST)], time.monotonic() + timeout
    while True:
        for group in groups:
            left = end - time.monotonic()
            if connection.wait(group, max(0.0, min(WHILE, left))) or left <= 0:
                return [sign for group in groups for sign in connection.wait(group, 0)]
