"""The walls around a case, built by its host: files by Landlock, and calls of the kernel by seccomp.

The host itself needs to look into /proc and to end processes. So there are two sets of rules: one holds for the host
from the beginning, the other, without /proc, is put on by each child before anything of a student's is run, as is the
filter of calls.
"""

from __future__ import annotations

from dlmini.grade.sandbox import landlock, seccomp


class Walls:
    """settings: read, listed: what may be read and listed (without: no rules for files); filter: whether calls are
    filtered; mounted: whether files are out of reach already.
    """

    def __init__(self, settings: dict):
        read, listed = settings.get("read"), settings.get("listed", [])
        self.inner = landlock.rules(read, listed) if read is not None else None
        outer = landlock.rules([*read, "/proc"], listed) if read is not None else None
        self.files = landlock.confine(outer)
        self.calls, self.writing = settings["filter"], not (self.files or settings["mounted"])

    def names(self) -> list[str]:
        """What is in force when a student's program runs."""
        files = [f"Landlock {landlock.version()}"] if self.files else []
        return files + ["seccomp"] * (self.calls and seccomp.known())

    def close(self) -> None:
        """For this process and all it will start: from now on no way leads back."""
        if self.files:
            landlock.confine(self.inner)
        if self.calls:
            seccomp.close(self.writing)
