"""S1: a classroom's PCs as a cluster (Krivosheev, Kuznetsov, Spitsyn)."""

from __future__ import annotations

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
    about = "0.04 MiB are x208; what deflate gives depends on how many levels are zero: lesson 14"
    return [*found, Row("message, int8 + deflate", TABLE[3].mib, "by the command", TRAINED, about, "MiB")]


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
    """What takes hours of training; its outcome stands in docs/classroom_study.md."""
    about = "generated tiles, a smaller net; hours: see docs/classroom_study.md"
    one, six = EPOCHS_TO_80[1], EPOCHS_TO_80[6]
    return [
        Row("epochs to 80 %, 1 and 6 PCs", f"{one} and {six}", "by the command", TRAINED, about),
        Row(
            "int8 costs accuracy",
            "markedly, left open",
            "by the command",
            TRAINED,
            "the mean divided per worker costs most",
        ),
    ]
