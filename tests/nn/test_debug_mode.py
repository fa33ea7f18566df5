"""DLMINI_KERNELS=debug runs the kernels as Python and refuses every address outside the buffers they were given."""

import os
import subprocess
import sys
import textwrap


def run(code: str, mode: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "DLMINI_KERNELS": mode},
        capture_output=True,
        text=True,
        timeout=240,
    )


COMPARE = """
    import numpy as np
    from dlmini import AvgPool, BatchNorm, Conv2d, Dense, Dropout, Flatten, MaxPool, Model, ReLU, Residual
    from dlmini import Skip, Tanh, Up
    rng = np.random.default_rng(0)
    networks = [
        [Conv2d(8, 3, padding="same"), ReLU(), Conv2d(16, 3, padding="same"), ReLU(), MaxPool(2), Conv2d(24, 3)],
        [Conv2d(8, 5, padding="same"), ReLU(), MaxPool(2), Conv2d(8, 5, padding="same"), Tanh(), AvgPool(2)],
        [Conv2d(5, 3), ReLU(), MaxPool(3, 1), Conv2d(10, (2, 3), stride=2, padding=1), ReLU(), Dropout(0.2)],
        [MaxPool(1), Conv2d(8, (2, 2)), BatchNorm(), ReLU(), Skip([MaxPool(2), Conv2d(8, 1), ReLU(), Up(16)]), Tanh()],
        [Conv2d(3, (2, 2)), BatchNorm(), ReLU(), Skip([MaxPool(2), Conv2d(8, 1), ReLU(), Up(5)]), AvgPool("image")],
        [Residual([Conv2d(8, 3, padding=1), BatchNorm()], [Conv2d(8, 1), ReLU()]), ReLU(), Conv2d(8, 3), BatchNorm()],
    ]
    for layers in networks:
        fast, plain = (Model([*layers, Flatten(), Dense(3)], (9, 7, 2), kernels=k) for k in ("numba", "numpy"))
        w, x, y = fast.initial(), rng.standard_normal((2, 9, 7, 2)).astype(np.float32), np.array([0, 2])
        x[:, 3:] = 0
        g, truth = fast.zeros(), fast.zeros()
        fast.loss_and_grad(w, x, y, g, key=(1,))
        plain.loss_and_grad(w, x, y, truth, key=(1,))
        assert np.abs(g - truth).max() < 2e-5 * np.abs(truth).max(), layers
        assert "BatchNorm" in str(layers) or not g[truth == 0].any(), layers  # biases before it: nothing but rounding
    print("equal")
"""


def test_every_kernel_stays_inside_its_buffers_and_agrees_with_numpy():
    done = run(COMPARE, "debug")
    assert done.stdout.strip() == "equal", done.stderr


def test_the_numpy_switch_leaves_numba_alone():
    code = """
        import sys
        import numpy as np
        from dlmini import lenet
        model = lenet()
        model.loss_and_grad(model.initial(), np.ones((1, 28, 28, 1), np.float32), np.zeros(1, int), model.zeros())
        print(model.kernels, "numba" in sys.modules)
    """
    assert run(code, "numpy").stdout.split() == ["numpy", "False"]


def test_a_wrong_stride_is_caught_before_it_does_harm():
    code = """
        import numpy as np
        from dlmini.nn.kernels import direct, memory
        x, w, y = memory.buffer(1, 6, 6, 3), np.zeros((3, 3, 3, 8), np.float32), memory.buffer(1, 4, 4, 8)
        honest = direct.pitches
        direct.pitches = lambda image: tuple(2 * p for p in honest(image))
        direct.forward(x, w, memory.buffer(8), y, 0)
    """
    done = run(code, "debug")
    assert "outside every buffer it was given" in done.stderr


def test_an_unknown_switch_is_refused():
    assert "use one of numba, numpy, debug" in run("import dlmini; dlmini.lenet()", "fortran").stderr
