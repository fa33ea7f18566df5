"""S1: a classroom's PCs as a cluster (Krivosheev, Kuznetsov, Spitsyn)."""

from __future__ import annotations

from dlmini.nn import unet
from dlmini.studies.classroom import reckoned
from dlmini.studies.classroom.published import (
    ALONE,
    BATCH_TO_80,
    BATCH_TO_HALF,
    DEFLATED,
    EPOCHS_TO_80,
    EPOCHS_TO_HALF,
    MIB,
    PCS,
    SPEED_UPS,
    TABLE,
)
from dlmini.studies.reproduction.row import Row

TITLE = "S1: a classroom's PCs as a cluster"
RECKON = "dlmini classroom --world reckoned"
TRAINED = "dlmini classroom --world simulated"
FITTED = "fixed cost and bandwidth are fitted on this row and the next"
PREDICTED = "predicted from the two rows above"
COMPUTED = "mean compute time of all rows"
SIZES = {"float32": 4, "float16": 2, "int8": 1}

# Trainings of hours, written down when they were made: docs/classroom_study.md has their tables.
RECORDED = "recorded in docs/classroom_study.md"
SENT, SENT_INT8, SENT_DEFLATED = 824.5, 206.2, 19.7  # MB of a training in float32, in int8, and in int8 + deflate
EPOCHS_HERE, BATCHES_HERE = (12, 2.5), (10, 20)
TO_HALF_HERE, BATCHES_TO_HALF = (26, 5), "neither in 30"
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
            "written as MB; 8.33 MiB are its other figure, 8.74 MB" if c.name == "float32" else "",
            "MiB",
        )
        for c in TABLE[:3]
    ]
    about = f"of all that was sent, {RECORDED}; what deflate gives depends on how many levels are zero: lesson 14"
    less = [
        Row("message, int8 + deflate: less than float32", TABLE[3].ratio, SENT / SENT_DEFLATED, TRAINED, about, "x"),
        Row("message, int8 + deflate: less than int8", DEFLATED, SENT_INT8 / SENT_DEFLATED, TRAINED, about, "x"),
    ]
    return [*found, *less]


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
    epochs = [
        Row(f"epoch of 6 PCs, {c.name}", c.epoch, r.epoch, RECKON, COMPUTED, "s")
        for c, r in zip(TABLE, found, strict=True)
    ]
    return epochs + [
        Row(
            f"speed-up of 6 PCs, {c.name}",
            SPEED_UPS[c.name],
            PCS * ALONE / r.epoch,
            RECKON,
            COMPUTED,
            "x",
        )
        for c, r in zip(TABLE, found, strict=True)
        if c.name in SPEED_UPS
    ]


def learned() -> list[Row]:
    """What takes hours of training, as it was recorded."""
    about = f"{RECORDED}; generated tiles, a smaller net, other batches"
    one, six = EPOCHS_TO_80[1], EPOCHS_TO_80[6]
    return [
        Row("epochs to 80 %, 1 and 6 PCs", f"{one} and {six}", "{} and {}".format(*EPOCHS_HERE), TRAINED, about),
        Row(
            "epochs to 80 % by mini-batches of 6 and of 24",
            "{} and {}".format(*(BATCH_TO_80[size] for size in (6, 24))),
            "{} and {}".format(*BATCHES_HERE),
            TRAINED,
            about,
        ),
        Row(
            "epochs to an error of 0.5, 1 and 6 PCs",
            "{} and {}".format(*(EPOCHS_TO_HALF[count] for count in (1, PCS))),
            "{} and {}".format(*TO_HALF_HERE),
            TRAINED,
            about,
        ),
        Row(
            "epochs to an error of 0.5 by mini-batches of 1 and of 24",
            "{} and {}".format(*(BATCH_TO_HALF[size] for size in (1, 24))),
            BATCHES_TO_HALF,
            TRAINED,
            about,
        ),
        Row("int8 costs accuracy", "markedly, left open", f"{INT8_POINTS} points", TRAINED, about),
        Row("int8 with a memory costs", "not tried", f"{FEEDBACK_POINTS} points", TRAINED, about),
    ]
