"""S4: simulating distributed training (Vishnyakov, Andreev)."""

from __future__ import annotations

import time

from dlmini.plan import flush_sizes, sheet_of, simulate_zero2
from dlmini.studies.reproduction.row import Row

TITLE = "S4: thousands of GPUs on a few processors"
DEVICES, CORES, FAST = 3072, 614, 6  # 0.2 cores for each at real time; a whole one each runs 6 times faster
MODEL = "bloom-560m"
PLAN, HERE = f"dlmini plan {MODEL} --devices {DEVICES} --out FOLDER", "dlmini reproduce --only S4"
SENT = f"dlmini plan {MODEL} --devices {DEVICES} --zero 2 --flush allreduce --out FOLDER"


def rows(long: bool = False) -> list[Row]:
    simulate_zero2(MODEL, 8)  # after this everything is compiled
    began = time.process_time()
    played = simulate_zero2(MODEL, DEVICES)
    cores = (time.process_time() - began) / played.seconds
    sizes = " and ".join(f"{2 * count / 1e6:.1f}" for count in flush_sizes(sheet_of(MODEL)))
    parameters = sheet_of(MODEL).parameters
    return [
        Row("devices that were simulated", DEVICES, DEVICES, HERE, "here all in one process"),
        Row(
            "cores for real time", CORES, cores, HERE, "one iteration of ZeRO 2, every rank played, no numbers computed"
        ),
        Row("cores, 6 times faster than real time", DEVICES, FAST * cores, HERE, "cores of the row above, six times"),
        Row(f"parameters of {MODEL}", "560m", parameters, PLAN, "counted tensor by tensor"),
        Row(
            "sizes of messages, ZeRO 2",
            "a histogram",
            f"{sizes} MB",
            SENT,
            "gradients of 2 bytes, DeepSpeed's default bucket",
        ),
    ]
