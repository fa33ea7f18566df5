"""What the fork server imports, and nobody else: on one thread, all that its children need (comm/processes/warm.py)."""

from dlmini.worker_start import one_thread

one_thread()

import dlmini.comm.processes.warm  # noqa: E402, F401  only now: NumPy has looked at the environment after this line
