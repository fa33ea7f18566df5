"""Tries the weights of each iteration on the test set, in a process beside the server.

So the server compiles nothing, holds no test set in its memory, and has its core for those who ask. The looker
reads the project's file and writes the accuracy there; it ends when its standard input does, so that it never outlives
the server, however that ends.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np

from dlmini.volunteer.described import work_of
from dlmini.volunteer.store import Store

OFTEN = 0.5  # seconds between two looks for news
# Of a process out of reach of the terminal's Ctrl-C, and of a notebook's "interrupt": it ends with who started it.
APART = {"creationflags": 0x200} if os.name == "nt" else {"start_new_session": True}


def main(folder: str) -> None:
    with suppress(AttributeError, OSError):
        os.nice(10)  # hosts come first
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    store = Store(folder)
    work = work_of(store.about("work"))
    while not ended.is_set():
        if (newest := store.unlooked()) is None:
            ended.wait(OFTEN)
            continue
        iteration, weights = newest
        accuracy = work.accuracy(np.frombuffer(weights, "<f4").copy())
        try:
            with store.together():
                store.keep_accuracy(iteration, accuracy)
        except sqlite3.Error:  # a full disk: tried again, when there may be room
            ended.wait(10 * OFTEN)
    store.close()


class Looker:
    """The process, seen from the server."""

    def __init__(self, folder):
        order = [sys.executable, "-m", "dlmini.volunteer.looker", str(folder)]
        self.process = subprocess.Popen(order, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **APART)

    def end(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


if __name__ == "__main__":
    main(sys.argv[1])
