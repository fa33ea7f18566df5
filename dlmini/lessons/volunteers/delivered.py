"""Lesson 15: a virtual machine against a container: when a host's first result comes, by formula and by simulation."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dlmini.volunteer.delivery import CONTAINER, VM, Delivery
from dlmini.volunteer.population import Population
from dlmini.volunteer.simulated_host import Nature, SimulatedHost

SEATS, UNITS = 75, 297  # about as many hosts, and units an iteration, as the source reports


def predicted(by: Delivery, nature: Nature | None = None) -> float:
    """Seconds until an ordinary host's first result, if it is always on: download / line + unpack + start + work."""
    it = nature or Nature()
    return 1000 * by.download / it.line + by.unpack + by.start + it.compute


class Row(NamedTuple):
    """able: share of hosts with the memory and disk. first: seconds, the median. a_day: units. success: of results."""

    able: float
    first: float
    a_day: float
    success: float


def able(by: Delivery, nature: Nature | None = None, hosts: int = 1000) -> float:
    """The share of hosts that have the memory and the disk for it."""
    it = nature or Nature()
    return sum(SimulatedHost(k, it, 0, 0.0).can_take_part(by) for k in range(hosts)) / hosts


@lru_cache(maxsize=4)
def compared(iterations: int = 8, seed: int = 0) -> dict[str, Row]:
    """The same people, the program delivered in both ways."""
    found = {}
    for by in (VM, CONTAINER):
        story = Population(SEATS, by, seed=seed).run(UNITS, iterations)
        found[by.name] = Row(able(by), story.first, story.a_day, story.success)
    return found
