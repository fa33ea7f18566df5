"""Passes vectors between ranks by everything but messages. Says so if another rank's vector was found."""

import contextlib
import glob
import os
import sys

import numpy as np

SHARED = {}


def attack(comm, x, *rest):
    SHARED[comm.rank] = x
    sys.modules.setdefault("shared", type(sys)("shared")).__dict__[f"rank{comm.rank}"] = x
    for folder in ("/tmp", "/dev/shm", "/var/tmp", "."):
        with contextlib.suppress(OSError):
            np.save(f"{folder}/rank{comm.rank}.npy", x)
    if os.name == "posix":
        os.environ[f"RANK{comm.rank}"] = x.tobytes().hex()
    for _ in range(3):  # by a way round, so that all have come here
        comm.send((comm.rank + 1) % comm.size, None)
        comm.recv((comm.rank - 1) % comm.size)
    found = [np.load(f) for folder in ("/tmp", "/dev/shm", "/var/tmp", ".") for f in glob.glob(f"{folder}/rank*.npy")]
    others = len(SHARED) > 1 or len([k for k in os.environ if k.startswith("RANK")]) > 1
    if others or any(f.shape != x.shape or (f != x).any() for f in found):
        print("BREACH")
        return sum(found[1:], found[0])
    return x
