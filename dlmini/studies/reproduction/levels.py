"""S3: methods of parallel training on three levels (Tolstobrov): our ten configurations in virtual time.

The document's own algorithms are in levels_as_published.py.
"""

from __future__ import annotations

import os

from dlmini.comm.network import gigabit
from dlmini.configurations import FLOPS, JITTER, compare, ten, whole_rounds
from dlmini.data import load
from dlmini.nn import lenet
from dlmini.optim import SGD
from dlmini.sim import Cluster, Simulated
from dlmini.studies.claims import CLAIMS, Claim
from dlmini.studies.reproduction import levels_as_published
from dlmini.studies.reproduction.row import Row
from dlmini.task import Classify

TITLE = "S3: three levels, ten configurations"
WORKERS, BATCH, RATE = 16, 20, 0.05
EPOCHS = {False: 4, True: 20}


def rows(long: bool = False) -> list[Row]:
    found = {row.number: row for row in configurations(EPOCHS[long])}
    command = f"dlmini compare --workers {WORKERS} --network gigabit --epochs {EPOCHS[long]}"
    made = [claim_row(claim, found, command) for claim in CLAIMS]
    return [*made, *levels_as_published.rows(long)]


def configurations(epochs: int) -> list:
    """Rows of the ten, on equal conditions."""
    task = Classify(lenet(), *load("fashion-mnist"), BATCH)
    place = Simulated(WORKERS, Cluster(gigabit, flops=FLOPS, jitter=JITTER))
    steps = whole_rounds(epochs * len(task.train) / WORKERS / BATCH)
    return compare(task, ten(steps, SGD(RATE)), place, crew=os.cpu_count() or 1)


def claim_row(claim: Claim, found: dict, command: str) -> Row:
    here = claim.written(claim.found(found, claim.what))
    quantity = {"seconds": "total time"}.get(claim.what, claim.what)
    why = {
        "communication": f"with waiting {claim.written(claim.found(found, 'synchronisation'))}",
        "seconds": "machines' speed is calibrated to this, at 60 workers",
        "accuracy": "mean of all workers; what is dropped is remembered here",
    }[claim.what]
    return Row(f"{claim.text}: {quantity}", claim.band, here, command, why)
