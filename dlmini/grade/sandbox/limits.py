"""What a student's program may use, and how a process binds itself to that before it runs any of it."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Limits:
    """Per case and rank, if not said otherwise.

    Processor time is what usually ends an endless loop; wall time ends one that sleeps. Memory is bounded twice: each
    process by its address space, and all of a submission, on all ranks, by what they really hold.
    """

    cpu: int = 2  # seconds of processor time
    wall: float = 10.0  # seconds until the case, on all ranks, must have ended
    total: float = 300.0  # seconds for all tests of a submission together
    memory: int = 1 << 30  # bytes
    processes: int = 24  # and threads
    file: int = 1 << 20  # bytes of a file, and of what is printed
    messages: int = 5_000  # of a case, all ranks together
    traffic: int = 32 << 20  # bytes of these
    packages: tuple[str, ...] = ("numpy",)  # that may be imported, beside the standard library

    def as_dict(self) -> dict:
        return asdict(self)


def bind(limits: Limits, processes: int | None) -> None:
    """Bind this process and all its children. `processes` counts what the same user runs elsewhere too; None: not."""
    if os.name != "posix":
        return
    import resource

    _lower(resource.RLIMIT_AS, limits.memory)
    _lower(resource.RLIMIT_FSIZE, limits.file)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, 128)
    if processes is not None:
        _lower(resource.RLIMIT_NPROC, processes)


def bind_time(limits: Limits) -> None:
    """Of the process that runs one case: at the limit the kernel ends it by a signal that says why; who does not hear
    that one is killed a second later, and nothing can catch that.
    """
    if os.name == "posix":
        import resource

        _lower(resource.RLIMIT_CPU, limits.cpu, 1)


def _lower(what: int, most: int, grace: int = 0) -> None:
    """grace: so much more until the limit that nobody can ignore."""
    import resource

    hard = resource.getrlimit(what)[1]
    if hard != resource.RLIM_INFINITY:
        most, grace = min(most, hard), min(grace, max(0, hard - most))
    try:
        resource.setrlimit(what, (most, most + grace))
    except (ValueError, OSError):  # macOS knows the name RLIMIT_AS but refuses it
        if what != resource.RLIMIT_AS:
            raise
