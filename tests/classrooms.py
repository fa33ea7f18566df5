"""Rooms on this machine for tests: PCs as threads of this process (quick), or as processes that `dlmini join`."""

import subprocess
import sys
import threading
from contextlib import contextmanager

from dlmini.comm.classroom import Classroom
from dlmini.comm.classroom.key import read_key
from dlmini.comm.classroom.member import Member, split_address


class ThreadPc(threading.Thread):
    """A PC that has joined; its rank is a process, as ever. `said` is what its screen shows."""

    def __init__(self, where, key, name, **hello):
        super().__init__(daemon=True)
        self.said, self.error = [], None
        self.member = Member(*split_address(where), read_key(key), name, 0, self.said.append)
        self.member.hello = self.member.hello._replace(**hello)
        self.start()

    def run(self):
        try:
            self.member.stay()
        except Exception as error:
            self.error = error


@contextmanager
def classroom(size, folder, pcs=None, **options):
    """A room with `pcs` PCs in it (as many as its size), named pc-0, pc-1, ...; yields it and the PCs."""
    room = Classroom(size, 0, address="127.0.0.1", key_file=folder / "room.key", wait=120, **options)
    room.open()
    found = [ThreadPc(room.where, room.key, f"pc-{i}") for i in range(size if pcs is None else pcs)]
    try:
        yield room, found
    finally:
        room.close()
        for pc in found:
            pc.join(20)


def another(room, size=None, **options):
    """The same room, described anew."""
    port = int(room.where.rpartition(":")[2])
    return Classroom(size or room.size, port, address="127.0.0.1", patience=room.patience, wait=120, **options)


def join(room, name, *more):
    """`dlmini join` in a process of its own, which can be killed."""
    words = [sys.executable, "-m", "dlmini", "join", room.where, "--key", room.key, "--name", name, *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
