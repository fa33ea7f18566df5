"""Does a rank hang? A process that was stopped (SIGSTOP) neither dies nor answers, and the others would wait for ever.

The parent looks once a second. A rank that it finds stopped several times in a row is ended, and is then dead like any
other: it is named, and others go on without it where they can. Looks are counted, not seconds: if everything was
stopped together, the parent too, nobody is blamed when it goes on. A debugger's stop is another state, and no hanging.
A rank that computes for ever cannot be told from one that computes for long: `Processes(timeout=...)` is for those.
"""

from __future__ import annotations

import time

import psutil

EVERY = 1.0  # seconds between two looks
LOOKS = 5  # in a row that must find it stopped


def is_stopped(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except psutil.Error:  # it has ended
        return False


class HangWatch:
    """`look(ranks)` says which of them have hung for long enough."""

    def __init__(self, processes):
        self.processes, self.seen, self.next = processes, [0] * len(processes), time.monotonic() + EVERY

    def look(self, ranks: list[int]) -> list[int]:
        if time.monotonic() < self.next:
            return []
        self.next = time.monotonic() + EVERY
        for rank in ranks:
            self.seen[rank] = self.seen[rank] + 1 if is_stopped(self.processes[rank].pid) else 0
        return [rank for rank in ranks if self.seen[rank] >= LOOKS]
