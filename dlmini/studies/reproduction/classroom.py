"""S1: a classroom's PCs as a cluster (Krivosheev, Kuznetsov, Spitsyn)."""

from __future__ import annotations

from dataclasses import replace

from dlmini.nn import unet
from dlmini.studies.classroom import reckoned
from dlmini.studies.classroom.published import ALONE, EPOCHS_TO_80, MIB, PCS, TABLE
from dlmini.studies.reproduction.row import Row

TITLE = "S1: a classroom's PCs as a cluster"
RECKON = "dlmini classroom --world reckoned"
TRAINED = "dlmini classroom --world simulated"
FITTED = "fixed cost and bandwidth are fitted on this row and the next"
PREDICTED = "predicted from the two rows above"
SIZES = {"float32": 4, "float16": 2, "int8": 1}

# Trainings of hours, written down when they were made: docs/classroom_study.md has their tables.
RECORDED = "recorded in docs/classroom_study.md"
SENT, DEFLATED = 824.5, 19.7  # MB of a training in float32, and in int8 + deflate
EPOCHS_HERE = 12, 2.5
INT8_POINTS, FEEDBACK_POINTS = -1.3, -0.6  # against float32, means of three seeds


def rows(long: bool = False) -> list[Row]:
    return [*network(), *synchronisation(), *speed(), *learned()]


def network() -> list[Row]:
    size = unet().size
    found = [
        Row(
            f"message, {c.name}",
            c.mib,
            SIZES[c.name] * size / MIB,
            RECKON,
            "the document's net is 8.33 to 8.74 MB" if c.name == "float32" else "",
            "MiB",
        )
        for c in TABLE[:3]
    ]
    about = f"of all that was sent, {RECORDED}; what deflate gives depends on how many levels are zero: lesson 14"
    less = Row(
        "message, int8 + deflate: less than float32", TABLE[0].mib / TABLE[3].mib, SENT / DEFLATED, TRAINED, about
    )
    return [*found, replace(less, unit="x")]


def synchronisation() -> list[Row]:
    """Seconds an epoch."""
    notes = (FITTED, FITTED, PREDICTED, PREDICTED)
    found = zip((r for r in reckoned.rows() if r.published), notes, strict=True)
    made = [Row(f"synchronisation, {r.name}", r.published, r.synchronisation, RECKON, why, "s") for r, why in found]
    ring = next(r for r in reckoned.rows() if r.name == "ring, float32")
    return [
        *made,
        Row("synchronisation by a ring", "not tried", ring.synchronisation, RECKON, "same room, no loss", "s"),
    ]


def speed() -> list[Row]:
    """Six computers against one: six epochs of one are one of six."""
    found = [r for r in reckoned.rows() if r.published]
    return [
        Row(
            f"speed-up of 6 PCs, {c.name}",
            c.speed_up,
            PCS * ALONE / r.epoch,
            RECKON,
            "mean compute time of all rows",
            "x",
        )
        for c, r in zip(TABLE, found, strict=True)
        if c.name in ("float32", "int8 + deflate")
    ]


def learned() -> list[Row]:
    """What takes hours of training, as it was recorded."""
    about = f"{RECORDED}; generated tiles, a smaller net, other batches"
    one, six = EPOCHS_TO_80[1], EPOCHS_TO_80[6]
    return [
        Row("epochs to 80 %, 1 and 6 PCs", f"{one} and {six}", "{} and {}".format(*EPOCHS_HERE), TRAINED, about),
        Row("int8 costs accuracy", "markedly, left open", f"{INT8_POINTS} points", TRAINED, about),
        Row("int8 with a memory costs", "not tried", f"{FEEDBACK_POINTS} points", TRAINED, about),
    ]
