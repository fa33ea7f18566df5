"""Who is in a room: a table to look at, and lines while a run waits for PCs to come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from dlmini.comm.errors import RankFailed
from dlmini.events import Event, Gathering

TITLES = ("PC", "address", "system", "cores", "Python", "NumPy", "now", "")


class Row(NamedTuple):
    name: str
    address: str
    system: str
    cores: int
    python: str
    numpy: str
    now: str
    note: str


class Roll(Sequence):
    """The PCs of a room, as rows; `remarks` are sentences about those who could not come in."""

    def __init__(self, rows: list[Row], remarks: list[str]):
        self.rows, self.remarks = rows, remarks

    @classmethod
    def of(cls, room) -> Roll:
        with room.change:
            members, wrong = list(room.members.values()), list(room.wrong)
        remarks = [f"refused: {why}" for why in room.refused]
        if wrong:
            remarks.append(f"a wrong key came from {', '.join(dict.fromkeys(wrong))}")
        return cls([row_of(member) for member in members], remarks)

    def __getitem__(self, place):
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        table = [TITLES, *(tuple(map(str, row)) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([*(lines if self.rows else ["nobody has come yet"]), *self.remarks])

    def _repr_html_(self) -> str:
        def line(cells, tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        remarks = "".join(f"<p>{escape(remark)}</p>" for remark in self.remarks)
        rows = "".join(line(row, "td") for row in self.rows)
        return f"<table>{line(TITLES, 'th')}{rows}</table>{remarks}"


def row_of(member) -> Row:
    said = member.hello
    now = "works" if member.news is not None else "ready" if member.ready else "starts"
    return Row(said.name, member.address, said.system, said.cores, said.python, said.numpy, now, member.doubt)


class Arrivals:
    """Called while a run waits: prints who comes and goes, tells who listens, and gives up in the end."""

    def __init__(self, room, size: int, wait: float, listen: Callable[[Event], None] | None):
        self.room, self.size, self.listen, self.end = room, size, listen, time.monotonic() + wait
        self.wait, self.seen, self.told = wait, None, 0.0

    def __call__(self, missing: int) -> None:
        found = Roll.of(self.room)
        names, text = [row.name for row in found], waiting(missing, self.size, found)
        if (names, found.remarks) != self.seen:
            self.seen = names, found.remarks
            sys.stdout.write(text + "\n")
        if self.listen is not None:
            self.listen(Gathering(text))
        if time.monotonic() > self.end:
            raise RankFailed(f"after {self.wait:g} s {text}")


def waiting(missing: int, size: int, roll: Roll) -> str:
    names = ", ".join(f"{row.name} ({row.now})" for row in roll) or "nobody"
    remarks = "".join(f"\n  {remark}" for remark in roll.remarks)
    return f"waiting for {missing} of {size} PCs; here: {names}{remarks}"
