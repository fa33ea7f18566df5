"""Pipes between a judge and a runner, seen from the runner.

Two carry frames, and whoever runs the student's code has them. A third, standard error, carries what only the host may
say: that a case is over. A child gives it up before anything of the student's is run.
"""

from __future__ import annotations

import os
import select

from dlmini.grade.runner.values import HEAD, frame, trusting

OVER = "over"  # with this begins the line that ends a case
NO_PROCESS = 1000  # in the place of an exit code: there was no process to be had for the case


class BlockingPipes:
    """Frames in, frames out. `hear` returns None when the judge has hung up."""

    def __init__(self, inn: int, out: int):
        self.inn, self.out = inn, out

    @classmethod
    def from_standard(cls) -> BlockingPipes:
        """Take over standard input and output, and leave nothing to read and nowhere to write in their places."""
        pipes = cls(os.dup(0), os.dup(1))
        for stream, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY)):
            nothing = os.open(os.devnull, mode)
            os.dup2(nothing, stream)
            os.close(nothing)
        if os.name == "nt":
            import msvcrt

            msvcrt.setmode(pipes.inn, os.O_BINARY)
            msvcrt.setmode(pipes.out, os.O_BINARY)
        return pipes

    def say(self, *value) -> None:
        data = memoryview(frame(value))
        while data:
            data = data[os.write(self.out, data) :]

    def over(self, nonce: bytes, code: int, cpu: float) -> None:
        """The host's last word about a case: a line, so that a warning before it does no harm."""
        os.write(2, f"\n{OVER} {nonce.hex()} {code} {cpu:.6f}\n".encode())

    def as_before(self) -> None:
        """A child shares these pipes, and may have told them not to wait, or so told the next child something."""
        if os.name == "posix":
            import fcntl

            for fd in (0, self.inn, self.out):
                fcntl.fcntl(fd, fcntl.F_SETFL, 0)

    def hung_up(self) -> bool:
        """Whether the judge is gone, however that came. Nothing of what it said is taken."""
        judge = select.poll()
        judge.register(self.inn, 0)  # only the end of it is of interest, which is always told
        return bool(judge.poll(0))

    def hear(self) -> tuple | None:
        head = self._exactly(HEAD.size)
        if head is None:
            return None
        whole, toc = HEAD.unpack(head)
        body = self._exactly(whole)
        return None if body is None else trusting(body, toc)

    def _exactly(self, count: int) -> bytearray | None:
        found = bytearray(count)
        view = memoryview(found)
        while view:
            part = os.read(self.inn, min(len(view), 1 << 20))
            if not part:
                return None
            view[: len(part)] = part
            view = view[len(part) :]
        return found
