"""Training steps against PyTorch, JAX and plain NumPy; how much memory one takes; and how long a first step takes."""

import os
import subprocess
import sys
import tempfile
from functools import partial

from benchmarks.peers import installed, jax_step, numpy_step, ours, torch_step
from benchmarks.timing import goal, interleaved
from dlmini import cifar_net, lenet, resnet8, unet, volunteer_net


def small_unet():
    return unet(input=(128, 128, 3))


BRANCHING = (small_unet, resnet8)  # raced against PyTorch alone
CASES = {  # name: (network, batch, floor, aim)
    "lenet b100": (lenet, 100, 3.0, 4.5),
    "lenet b32": (lenet, 32, 2.4, 3.5),
    "cifar_net b100": (cifar_net, 100, 2.4, 3.5),
    "volunteer_net b100": (volunteer_net, 100, 2.2, 3.0),
    "unet 128x128 b8": (small_unet, 8, 1.3, 2.0),
    "resnet8 b100": (resnet8, 100, 1.5, 2.5),
}
MEMORY = """
import resource, sys
from pathlib import Path
import psutil
from benchmarks import peers, train
build, batch, *_ = train.CASES[sys.argv[1]]
make = peers.ours if sys.argv[2] == "ours" else lambda *given: peers.torch_step(*given, True)
model = build()
make(model, 1)()  # what is loaded once is no part of a step
step, before = make(model, batch), psutil.Process().memory_info().rss
for _ in range(3):
    step()
status = Path("/proc/self/status")  # ru_maxrss begins with the size of the process that started this one
lines = status.read_text().splitlines() if status.exists() else []
own = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
print((own or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])[0] * 1024 - before)
"""
STEP = """
import sys, time
start = time.perf_counter()
import numpy as np
from dlmini import lenet
imported = time.perf_counter()
if sys.argv[1] == "all":
    from dlmini.course import warm_up as warm
    stages = warm.stages()
    assert len([*warm.prepared({name: stages[name] for name in warm.COMPILING})]) == len(warm.COMPILING)
model = lenet()
model.loss_and_grad(model.initial(), np.ones((32, 28, 28, 1), np.float32), np.zeros(32, int), model.zeros())
print(imported - start, time.perf_counter() - imported)
"""


def contests(build, batch):
    """Who is timed with whom: PyTorch alone with us, because the threads of JAX would disturb it."""
    model = build()
    if installed("torch"):
        torches = {
            "PyTorch channels_last": torch_step(model, batch, True),
            "PyTorch NCHW": torch_step(model, batch, False),
        }
        yield {"ours": ours(model, batch), **torches}
    if build in BRANCHING:
        return
    others = {"JAX jit": jax_step(model, batch)} if installed("jax") else {}
    yield {"ours": ours(model, batch), "plain NumPy": numpy_step(model, batch), **others}


def first_step(which: str, cache: str) -> tuple[float, float]:
    """Seconds of the imports and of the first step in a new process."""
    env = {**os.environ, "DLMINI_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", STEP, which], env=env, capture_output=True, text=True, check=True)
    imported, stepped = done.stdout.split()
    return float(imported), float(stepped)


def memory_rows():
    """The most that a process grows in a training step, each in a process of its own."""
    for name in CASES:
        grown = [
            int(subprocess.run([sys.executable, "-c", MEMORY, name, who], capture_output=True, check=True).stdout)
            for who in ("ours", "torch")
        ]
        row = dict(zip(("ours", "peer"), (f"{g / 1e6:,.0f} MB" for g in grown), strict=True))
        yield row | {"name": f"{name}: memory of a step", "ratio": grown[1] / grown[0], "floor": 1.0, "aim": 1.5}


def start_rows():
    """Cold: nothing compiled. Warm: everything in the cache. The goals are seconds, so the ratio is goal to time."""
    with tempfile.TemporaryDirectory() as cache:
        measure = partial(first_step, cache=cache)
        cold_import, cold = measure("all")
        warm_import, warm = min((measure("one") for _ in range(3)), key=sum)
    row = dict.fromkeys(("ratio", "floor", "aim"))
    return [
        {**row, "name": "import, cold / warm", "ours": f"{cold_import:.2f} s", "peer": f"{warm_import:.2f} s"},
        goal("compile all kernels, cold", cold, "s", 10, 6),
        goal("first step from the cache", warm, "s", 0.6, 0.3),
    ]


def contest_rows(name, build, batch, floor, aim):
    for contest in contests(build, batch):
        times = interleaved(contest)
        mine = times.pop("ours")
        for peer, seconds in times.items():
            row = {"name": f"{name} vs {peer}", "ours": f"{batch / mine:,.0f} images/s"}
            row |= {"peer": f"{batch / seconds:,.0f} images/s", "ratio": seconds / mine, "floor": None, "aim": None}
            yield row | ({"floor": floor, "aim": aim} if peer == "PyTorch channels_last" else {})


def rows() -> list[dict]:
    missing = [peer for peer in ("torch", "jax") if not installed(peer)]
    if missing:
        print(f"not installed, left out: {', '.join(missing)} (pip install torch==2.13.0 jax)", file=sys.stderr)
    table = [row for name, case in CASES.items() for row in contest_rows(name, *case)]
    if sys.platform == "linux" and "torch" not in missing:
        table += memory_rows()
    return table + start_rows()
