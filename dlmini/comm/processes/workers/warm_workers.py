"""Imported once by the fork server, so that every worker is born with NumPy, Numba and compiled kernels.

Nothing here may start a thread: the server is about to fork. And nothing may fail but with an ImportError, which the
server survives: the workers will then meet the same error, and report it.
"""

import numpy as np

from dlmini.comm.processes.kernels.layout import NOTHING, length
from dlmini.comm.processes.messages.ring_buffer import Ends
from dlmini.comm.processes.shared_area import SharedArea, nbytes
from dlmini.comm.processes.sums import FLOAT32, kernels
from dlmini.comm.processes.wait_settings import wait_settings


def warm() -> None:
    """Run every kernel with every signature, in a world of one rank."""
    area, use = SharedArea(bytearray(nbytes(1, 1)), 1, 1), kernels()
    words, own, spare = area.words, wait_settings(0, area, 1, 1), length(1) - 1
    use.publish(words, own, spare, 1, 0, NOTHING)
    use.look(words, spare)
    use.enter(words, spare, 1.0, 1.0)
    use.watch(words, own, np.array([spare]), np.array([0]), 1, 1)
    use.meet(words, own, 0, 0.0)
    Ends(area, own, use.letters)
    x, out = np.ones(4, FLOAT32), np.ones(4, FLOAT32)
    use.summing.allreduce(x, out, words, own, FLOAT32.num, 0.0)
    use.summing.reduce_scatter(x, out, words, own, FLOAT32.num, 0.0)


try:
    warm()
except Exception as error:
    raise ImportError("the kernels of dlmini.comm cannot be run") from error
