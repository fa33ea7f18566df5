"""Stages of warm_up.py in processes of their own, as many as there are cores: Numba compiles on one core only.

A process does one stage after the other, since to begin costs it a second. Stages compile distinct functions, so no two
write the same file of the cache; and Numba writes aside and renames, so whoever is killed half-way leaves nothing
broken behind. A process never outlives who started it: it listens on a pipe that only its parent holds, and which the
system closes when that is gone.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from threading import Thread

COMMAND = "from dlmini.course.parallel_compile import main; main()"
DONE = b"\x06"  # a line of its own: the stage is done


def compiled_in_parallel(names: Iterable[str], at_once: int | None = None) -> Iterator[str]:
    """Do these stages, in this order as cores become free: the name of each when it is done."""
    left, news, running = list(names), SimpleQueue(), {}
    try:
        for _ in range(min(len(left), at_once or os.cpu_count() or 1)):
            child = start()
            Thread(target=listen, args=(child, news), daemon=True).start()
            running[child] = order(child, left.pop(0))
        while running:
            child, said = news.get()
            if child not in running:  # one that was dismissed has ended
                continue
            if said is not None:
                demand(running[child], child.returncode, said)
            yield running[child]
            if left:
                running[child] = order(child, left.pop(0))
            else:
                del running[child]
                end([child])
    finally:
        end(running)


def start() -> subprocess.Popen:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen([sys.executable, "-c", COMMAND], **pipes)


def order(child: subprocess.Popen, name: str) -> str:
    """Tell a child what to do next."""
    with contextlib.suppress(OSError):  # it has died, which is heard too
        child.stdin.write(name.encode())
        child.stdin.flush()
    return name


def listen(child: subprocess.Popen, news: SimpleQueue) -> None:
    """Take what a child says until it has ended; no pipe fills. News: (child, None) for a stage; last, its words."""
    said = b""
    for line in child.stdout:
        if line.strip() == DONE:
            news.put((child, None))
        else:
            said += line
    child.wait()
    news.put((child, said.decode(errors="replace")))


def demand(name: str, code: int, said: str) -> None:
    """A child has ended in the middle of a stage: say why."""
    why = said.strip().splitlines()[-1] if said.strip() else f"exit code {code}"
    raise RuntimeError(f"the stage {name} of the warm-up has failed: {why}")


def end(children: Iterable[subprocess.Popen]) -> None:
    for child in children:
        child.kill()
    for child in children:
        child.wait()
        with contextlib.suppress(OSError):
            child.stdin.close()


def main() -> None:
    """A child's life."""
    from dlmini.course.warm_up import stages

    orders = SimpleQueue()
    Thread(target=hear, args=(orders,), daemon=True).start()
    gc.disable()  # compiling makes millions of small objects that live until the end, and the collector walks them all
    while True:
        stages()[orders.get()]()
        sys.stdout.buffer.write(b"\n" + DONE + b"\n")
        sys.stdout.flush()


def hear(orders: SimpleQueue) -> None:
    """One order at a time, each after the last is done. The pipe's end is that of who started us, and so ours."""
    while name := os.read(sys.stdin.fileno(), 1000):
        orders.put(name.decode())
    os._exit(1)
