"""The whole U-Net of 2,183,990 parameters: what takes minutes, so in the long form only (DLMINI_LONG=1)."""

import numpy as np
import pytest
from examples import LONG

from dlmini import SGD, Processes, Recipe, Segment, aerial, gradcheck, launch, unet
from dlmini.loop import program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not LONG, reason="minutes: DLMINI_LONG=1")]


def test_its_gradient_agrees_with_central_differences():
    """At 64 x 64, so that at the bottom there are eight numbers to normalise: of two, ±1 is left whatever they are."""
    model, rng = unet(input=(64, 64, 3)), np.random.default_rng(7)
    x, y = rng.standard_normal((2, 64, 64, 3)), rng.integers(0, 6, (2, 64, 64))
    worst = gradcheck(model, model.initial(), x, y, sample=25, step=1e-6)
    print(f"worst of 25 parameters: {worst:.1e}")
    assert worst < 1e-6


def most_memory(comm, task, recipe):
    """Train; the most that this worker's process has had in memory."""
    import resource

    program(comm, task, recipe)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_it_trains_on_tiles_of_512_pixels_by_two_workers_with_less_than_3_gb_each():
    pytest.importorskip("resource")
    task = Segment(unet(input=(512, 512, 3)), aerial(8, 512), aerial(1, 512, seed=1), batch=4)
    used = launch(most_memory, Processes(2), (task, Recipe(optimizer=SGD(0.01), rounds=2)))
    print(", ".join(f"{nbytes / 1e9:.2f} GB" for nbytes in used))
    assert max(used) < 3e9
