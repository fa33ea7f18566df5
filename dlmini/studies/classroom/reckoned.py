"""The first world: pencil and paper.

Six computers, one of which is also the server; every gradient passes its port, in and then out:

    a synchronisation = fixed + 2 (N - 1) S / bandwidth
Two unknowns, and the two rows in which nothing is rounded away, float32 and float16, give them. Everything else is a
prediction: int8, int8 + deflate (whose S is as published; both ways are deflated, one after the other), and what was
never tried. The fixed part is paid once for every exchange that waits for the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from dlmini.nn import unet
from dlmini.studies.classroom.published import COMPUTE, DEFLATE, MIB, PARAMETERS, PCS, SYNCS, TABLE

WHOLE, HALF, INT8 = 4 * PARAMETERS, 2 * PARAMETERS, PARAMETERS + 20  # bytes of a packet: header and scale take 20
TOP_K = 4 + 8 * round(0.01 * PARAMETERS)  # one number in a hundred, with its place


@dataclass(frozen=True)
class Room:
    """Seconds of a synchronisation that no byte explains, and bytes per second through one port."""

    fixed: float
    bandwidth: float

    def synchronisation(self, through: float, exchanges: int = 1, spent: float = 0.0) -> float:
        """Seconds an epoch. through: bytes that pass the busiest port in each synchronisation; spent: on encoding."""
        return SYNCS * (exchanges * self.fixed + through / self.bandwidth + spent)


def calibrated() -> Room:
    """From the synchronisation of float32 and float16."""
    first, second = TABLE[:2]
    nbytes = 4 * PARAMETERS, 2 * PARAMETERS
    slope = (first.synchronisation - second.synchronisation) / SYNCS / (star(nbytes[0]) - star(nbytes[1]))
    return Room(first.synchronisation / SYNCS - slope * star(nbytes[0]), 1 / slope)


def star(packet: float, ranks: int = PCS) -> float:
    """Bytes at the server's port, when packets travel both ways."""
    return 2 * (ranks - 1) * packet


def ring(whole: float, ranks: int = PCS) -> float:
    """Bytes at any port of a ring."""
    return 2 * (ranks - 1) / ranks * whole


def servers(whole: float, count: int, ranks: int = PCS) -> float:
    """Bytes at the busiest port, `count` machines more serve a part each: its N gradients in, N means out."""
    return 2 * ranks * whole / count


def gathered(packet: float, ranks: int = PCS) -> float:
    """Bytes at any port, if everybody gets everybody's packet."""
    return (ranks - 1) * packet


def low_rank_bytes(rank: int) -> tuple[int, int]:
    """Bytes of PowerSGD's two all-reduces for the U-Net: P with all that travels whole, then Q."""
    first = second = 0
    for shape in (shape for part in unet().parts for shape in part):
        n, m = prod(shape[:-1]), shape[-1]
        pays = len(shape) > 1 and rank * (n + m) < n * m
        first, second = first + 4 * (rank * n if pays else n * m), second + (4 * rank * m if pays else 0)
    return first, second


@dataclass(frozen=True)
class Reckoned:
    """One row: published seconds where there are any."""

    name: str
    megabytes: float  # at the busiest port, in each synchronisation
    synchronisation: float
    published: float | None = None

    @property
    def epoch(self) -> float:
        return COMPUTE + self.synchronisation

    @property
    def off(self) -> float | None:
        """How much more, or less, than published."""
        return None if self.published is None else self.synchronisation / self.published - 1


def rows() -> list[Reckoned]:
    """The four published columns, and what else six computers could have done."""
    room, deflated = calibrated(), TABLE[3].mib * MIB
    known = zip(TABLE, (WHOLE, HALF, INT8, deflated), (0.0, 0.0, 0.0, 2 * DEFLATE), strict=True)
    found = [
        row(room, f"star, {c.name}", star(packet), spent=spent, published=c.synchronisation)
        for c, packet, spent in known
    ]
    low_rank = sum(low_rank_bytes(2))
    return [
        *found,
        row(room, "ring, float32", ring(WHOLE)),
        row(room, "a sixth served by each computer, float32", ring(WHOLE)),
        row(room, "two more computers as servers, float32", servers(WHOLE, 2)),
        row(room, "everybody to everybody, int8", gathered(INT8)),
        row(room, "star, top-k 1 %", star(TOP_K)),
        row(room, "ring twice, PowerSGD of rank 2", ring(low_rank), exchanges=2),
    ]


def row(room: Room, name: str, through: float, exchanges: int = 1, spent: float = 0.0, published=None) -> Reckoned:
    return Reckoned(name, through / 1e6, room.synchronisation(through, exchanges, spent), published)


def table(found: list[Reckoned]) -> str:
    """In Markdown."""
    room = calibrated()
    lines = [
        f"Fixed: {room.fixed:.3f} s in every synchronisation; {room.bandwidth / 1e6:.1f} MB/s through a port.\n",
        "| | MB at the busiest port | synchronisation, s | published, s | off by | epoch, s |",
        "|---|---|---|---|---|---|",
    ]
    for r in found:
        published, off = ("–", "–") if r.published is None else (f"{r.published:g}", f"{r.off:+.1%}")
        lines.append(
            f"| {r.name} | {r.megabytes:.2f} | {r.synchronisation:.1f} | {published} | {off} | {r.epoch:.1f} |"
        )
    return "\n".join(lines) + "\n"
