"""Stages of warm_up.py in processes of their own, as many at once as there are cores: Numba compiles on one core only.

Stages compile distinct functions, so no two write the same file of the cache; and Numba writes aside and renames, so
whoever is killed half-way leaves nothing broken behind. A stage never outlives who started it: it listens on a pipe
that only its parent holds, and which the system closes when that is gone.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from threading import Thread

COMMAND = "import sys; from dlmini.course.parallel_compile import main; main(sys.argv[1])"


def compiled_in_parallel(names: Iterable[str], at_once: int | None = None) -> Iterator[str]:
    """Do these stages, in this order as cores become free: the name of each when it is done."""
    left, news, running = list(names), SimpleQueue(), {}
    try:
        while left or running:
            while left and len(running) < (at_once or os.cpu_count() or 1):
                name = left.pop(0)
                running[name] = child = start(name)
                Thread(target=listen, args=(name, child, news), daemon=True).start()
            name, said = news.get()
            with running.pop(name) as ended:
                demand(name, ended.returncode, said)
            yield name
    finally:
        end(running.values())


def start(name: str) -> subprocess.Popen:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen([sys.executable, "-c", COMMAND, name], **pipes)


def listen(name: str, child: subprocess.Popen, news: SimpleQueue) -> None:
    """Take what a child says until it has ended; no pipe fills."""
    said = child.stdout.read().decode(errors="replace")
    child.wait()
    news.put((name, said))


def demand(name: str, code: int, said: str) -> None:
    if code:
        why = said.strip().splitlines()[-1] if said.strip() else f"exit code {code}"
        raise RuntimeError(f"the stage {name} of the warm-up has failed: {why}")


def end(children: Iterable[subprocess.Popen]) -> None:
    for child in children:
        child.kill()
    for child in children:
        child.wait()
        child.stdin.close()


def main(name: str) -> None:
    """A child's life."""
    from dlmini.course.warm_up import stages

    Thread(target=end_with_parent, daemon=True).start()
    gc.disable()  # compiling makes millions of small objects that live until the end, and the collector walks them all
    stages()[name]()


def end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing is ever written: this returns when the other end is closed
    os._exit(1)
