"""S4: simulating distributed training (Vishnyakov, Andreev)."""

from __future__ import annotations

import time

from dlmini.plan import flush_sizes, sheet_of, simulate_zero2
from dlmini.studies.reproduction.row import Row

TITLE = "S4: thousands of GPUs on a few processors"
DEVICES, REAL_TIME, FAST, FASTER = 3072, 0.2, 6, 1.0  # devices; cores for each at real time; and 6 times faster
MODEL = "bloom-560m"
PLAN, HERE = f"dlmini plan {MODEL} --devices {DEVICES} --out FOLDER", "dlmini reproduce --only S4"
SENT = f"dlmini plan {MODEL} --devices {DEVICES} --zero 2 --flush allreduce --out FOLDER"
PLAYED = "one iteration of ZeRO 2, every rank played, no numbers computed"


def rows(long: bool = False) -> list[Row]:
    simulate_zero2(MODEL, 8)  # after this everything is compiled
    began = time.process_time()
    played = simulate_zero2(MODEL, DEVICES)
    each = (time.process_time() - began) / played.seconds / DEVICES
    sizes = " and ".join(f"{2 * count / 1e6:.1f}" for count in flush_sizes(sheet_of(MODEL)))
    parameters = sheet_of(MODEL).parameters
    return [
        Row("devices that were simulated", DEVICES, DEVICES, HERE, "there on 4 hosts, here all in one process"),
        Row("cores for each device, real time", REAL_TIME, each, HERE, PLAYED),
        Row(f"cores for each device, {FAST} times faster", FASTER, FAST * each, HERE, "the row above, six times"),
        Row(f"parameters of {MODEL}", "560m", parameters, PLAN, "counted tensor by tensor"),
        Row(
            "sizes of messages, ZeRO 2",
            "a histogram",
            f"{sizes} MB",
            SENT,
            "gradients of 2 bytes, DeepSpeed's default bucket",
        ),
    ]
