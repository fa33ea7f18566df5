"""How the application comes to a volunteer's machine: as a virtual machine, or as a container.

The figures are the document's own table (Kurochkin and Papanov, Russian Supercomputing Days 2023), GB are 10^9 bytes.
A container is small to fetch and quick to start, but theirs wants 7 GB of memory: it is run in a small VM of its own.
"""

from __future__ import annotations

from typing import NamedTuple

MB = 1e6


class Delivery(NamedTuple):
    """ram, disk: GB that a host must have free. download: GB, once. unpack: seconds, once. start: seconds, each time.
    parts: what lies on the server, in MB."""

    name: str
    ram: float
    download: float
    unpack: float
    disk: float
    start: float
    parts: tuple[tuple[str, float], ...] = ()

    @property
    def stored(self) -> float:
        """MB on the server, without parameter sets."""
        return sum(size for _, size in self.parts)


VM = Delivery("VM", 2.0, 5.0, 305.0, 10.0, 135.0, (("VBoxWrapper", 1.5), ("VDI file", 10_000.0)))
CONTAINER = Delivery(
    "container", 7.0, 0.5, 0.0, 0.5, 62.0, (("VBoxWrapper", 1.5), ("ISO image", 36.0), ("Docker image", 517.0))
)
DELIVERIES = {"vm": VM, "container": CONTAINER}
