"""How much memory all processes of a submission hold together. The kernel's own limit knows single processes only.

Where control groups are to be had the kernel counts, and ends who takes too much. Everywhere on Linux the judge also
looks while it waits for an answer. What a runner holds before it has run anything does not count: to a group it is
brought later, and here it is taken off each of its processes, for they are forks of it, and share that.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from dlmini.grade.runner.judge_pipes import Greedy
from dlmini.grade.sandbox.memory_groups import MemoryGroup

EVERY = 0.1  # seconds between two looks


class MemoryWatch:
    """Over the runners of one submission. Where the system does not tell who is whose child, it sees nothing."""

    def __init__(self, most: int, group: MemoryGroup | None = None):
        self.most, self.due, self.bases, self.group = most, 0.0, {}, group

    def add(self, pid: int) -> None:
        """From now on count what the runner with this process, and all below, hold more than now."""
        family = below(pid)
        self.bases[pid] = max(map(resident, family), default=0)
        if self.group:
            try:
                self.group.take(family)
            except OSError:  # others may make rules for groups: from now on only looking is left
                self.close()

    def forget(self, pid: int) -> None:
        self.bases.pop(pid, None)

    def look(self) -> None:
        """If it is time. Greedy, if there is too much."""
        if (now := time.monotonic()) < self.due:
            return
        self.due = now + EVERY
        self.blame()
        if self.held() > self.most:
            raise self.greedy()

    def greedy(self) -> Greedy:
        return Greedy(f"its processes held more than {self.most >> 20} MB of memory together.")

    def blame(self) -> None:
        """Greedy, if the kernel has ended a process of this submission, for memory: however others of it go on."""
        if self.group and self.group.ended():
            raise self.greedy()

    def close(self) -> None:
        group, self.group = self.group, None
        if group:
            group.close()

    def held(self) -> int:
        return sum(max(0, resident(one) - base) for pid, base in self.bases.items() for one in below(pid))


def below(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        todo += children(found[-1])
    return found


def children(pid: int) -> list[int]:
    """proc(5): /proc/PID/task/TID/children, where the kernel has it."""
    try:
        tasks = [f"/proc/{pid}/task/{task}/children" for task in os.listdir(f"/proc/{pid}/task")]
        return [int(word) for task in tasks for word in Path(task).read_text().split()]
    except OSError:
        return []


def resident(pid: int) -> int:
    """Bytes of a process that are in memory; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
