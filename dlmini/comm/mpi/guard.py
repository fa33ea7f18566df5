"""A small process between the notebook and mpiexec, so that nothing outlives the notebook, however that ends.

    python guard.py NAME ... -- mpiexec ...        the variables NAME hold the directory for MPI's session files

Its standard input is a leash: when it ends (the notebook closes it, is interrupted, is killed), mpiexec is told to
end, which ends all ranks on all hosts; if it does not listen, it is killed. The directory is made here and removed at
the end, whatever MPI left in it. Run by its path: it imports nothing of the house, so it starts at once.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress

GRACE = 5  # seconds between asking and killing
SHARED = "/dev/shm"  # memory that looks like files: where MPI's shared segments belong


def end(job: subprocess.Popen) -> None:
    """Ask, then kill."""
    with suppress(ProcessLookupError):
        job.terminate()
    try:
        job.wait(GRACE)
    except subprocess.TimeoutExpired:
        job.kill()


def leash(job: subprocess.Popen) -> None:
    while os.read(0, 1024):
        pass
    end(job)


def guard(command: list[str], names: list[str]) -> int:
    """Run the command, and return its exit code."""
    place = tempfile.mkdtemp(prefix="dlmini_mpi_", dir=SHARED if os.access(SHARED, os.W_OK) else None)
    try:
        env = {**os.environ, **dict.fromkeys(names, place)}
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=env)
        threading.Thread(target=leash, args=(job,), daemon=True).start()
        return job.wait()
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    cut = sys.argv.index("--")
    sys.exit(guard(sys.argv[cut + 1 :], sys.argv[1:cut]) % 256)
