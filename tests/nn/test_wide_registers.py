"""Registers of sixteen floats and of eight give the same numbers, to the bit."""

import os
import subprocess
import sys

import pytest

NARROW = {"NUMBA_CPU_FEATURES": "+avx2,+fma,+f16c"}  # the CPU keeps its name, and Numba its own loops
TRAINED = """
import hashlib
import numpy as np
from dlmini import SGD, cifar_net, lenet, mlp, resnet8, unet, volunteer_net
from dlmini.nn import BatchNorm, Conv2d, Dense, Flatten, MaxPool, Model, ReLU
from dlmini.nn.kernels.vector import WIDE

odd = [Conv2d(20, 3, padding=1), ReLU(), MaxPool(2), Conv2d(40, 5), BatchNorm(), ReLU(), Flatten(), Dense(7)]
built = lenet(), cifar_net(), volunteer_net(), mlp(), resnet8(), unet(input=(32, 32, 3)), Model(odd, (17, 19, 3))
print(WIDE)
for model in built:
    rng, (*pixels, classes) = np.random.default_rng(1), model.shapes[-1]
    w, grad, stepper = model.initial(), model.zeros(), SGD(0.05).start(model.size)
    for _ in range(3):
        x, y = rng.standard_normal((5, *model.input)).astype(np.float32), rng.integers(0, classes, (5, *pixels))
        model.loss_and_grad(w, np.maximum(x, 0), y, grad)
        stepper.apply(w, grad)
    assert np.isfinite(w).all()
    print(hashlib.sha256(w.tobytes()).hexdigest())
"""


def trained(**settings) -> list[str]:
    """Whether registers are wide, and what several networks have learned after three steps, in a new process."""
    env = {**os.environ, "DLMINI_KERNELS": "numba", "OPENBLAS_NUM_THREADS": "1", **settings}
    done = subprocess.run([sys.executable, "-c", TRAINED], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_wide_and_narrow_registers_train_the_same_networks():
    wide, *learned = trained()
    if wide != "True":
        pytest.skip("needs a CPU with AVX-512, and Numba free to compile for it")
    assert trained(**NARROW) == ["False", *learned]
    assert len({*learned}) == len(learned) == 7
