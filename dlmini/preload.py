"""What the fork server imports, and nobody else: on one thread, all that its children need (warm_workers.py)."""

from dlmini.worker_start import one_thread

one_thread()

import dlmini.comm.processes.workers.warm_workers  # noqa: E402, F401  only now: NumPy has looked at the environment after this line
