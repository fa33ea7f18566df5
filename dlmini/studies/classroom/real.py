"""The third world: six hosts, each a network namespace with a cable of 1 Gbit/s to one switch, and Open MPI.

They share this machine's cores, so a round of training takes what the cores need, and waiting is distorted. What the
links do is seen in exchanges alone, timed after a barrier; the same program in virtual time predicts them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from dlmini.comm.mpi.mpiexec import missing, mpiexec, version
from dlmini.comm.network import gigabit
from dlmini.sim import Simulated
from dlmini.studies.classroom.exchange import NAMES, results
from dlmini.studies.classroom.published import PCS, SYNCS
from dlmini.studies.hosts import hosts, unavailable

RATE = "1gbit"


@dataclass(frozen=True)
class Measured:
    """One way: seconds of an exchange (the median), on real links and in virtual time; and of a round of training.

    predicted: what the wires take in virtual time, and what worker 0 needs here to read and make packets (handling).
    """

    name: str
    packet: int
    exchange: float
    predicted: float
    handling: float
    round: float
    synchronisation: float

    @property
    def ratio(self) -> float:
        return self.exchange / self.predicted

    @property
    def epoch(self) -> float:
        """Seconds that an epoch of the document's would take here."""
        return SYNCS * self.round


@dataclass(frozen=True)
class Report:
    """same_bytes: what passed between each two ranks is the same in both worlds, to the byte; equal: so are weights."""

    rows: list[Measured]
    same_bytes: bool
    same_weights: bool


def obstacle() -> str:
    """Why it cannot be measured here; empty if it can."""
    if why := missing():
        return why
    if "Open MPI" not in version(mpiexec()):
        return "the settings of these hosts are for Open MPI, and another MPI is installed"
    return unavailable()


def measured(rounds: int = 5) -> Report:
    """Both worlds, the same program."""
    with TemporaryDirectory(prefix="dlmini-hosts-") as folder:
        file = Path(folder) / "found.json"
        with hosts(PCS, Path(folder), RATE, timeout=600) as on_first:
            on_first("-m", "dlmini.studies.classroom.exchange", file, rounds)
        real = json.loads(file.read_text(encoding="utf-8"))
    virtual = results(Simulated(PCS, gigabit), rounds)
    return compared(real, virtual)


def compared(real: dict, virtual: dict) -> Report:
    """Two runs of `results`, side by side."""
    rows = []
    for name in NAMES:
        here, there = real["ways"][name], virtual["ways"][name]
        exact, predicted = (sorted(one["seconds"])[len(one["seconds"]) // 2] for one in (here, there))
        spent = here["handling"]
        row = Measured(name, here["packet"], exact, predicted + spent, spent, here["round"], here["synchronisation"])
        rows.append(row)
    weights = [{name: run["ways"][name]["weights"] for name in NAMES} for run in (real, virtual)]
    return Report(rows, real["pairs"] == virtual["pairs"], real["equal"] and weights[0] == weights[1])
