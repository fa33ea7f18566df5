"""How long every notebook takes in the fast profile, all exercises solved, in a kernel of its own: at most 90 s.

There is no peer: the ratio is the accepted time over ours, so that 1 is the floor.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import goal

PROJECT = Path(__file__).parent.parent
ACCEPTED, AIM = 90.0, 30.0  # seconds on two cores
RUN = PROJECT / "tests" / "course" / "notebook_run.py"


def seconds(notebook: Path) -> float:
    """From nothing to its end, the kernel's start included."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PROJECT / "solutions", f"{folder}/exercises")
        private = dict.fromkeys(("DLMINI_WORK", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"), folder)
        env = {**os.environ, **private, "DLMINI_PROFILE": "fast"}
        start = time.perf_counter()
        subprocess.run([sys.executable, RUN, notebook, f"{folder}/pid"], env=env, check=True)
        return time.perf_counter() - start


def rows() -> list[dict]:
    notebooks = sorted((PROJECT / "notebooks").glob("*.ipynb"))
    seconds(notebooks[0])  # after this the kernels are compiled
    return [goal(notebook.stem, seconds(notebook), "s", ACCEPTED, AIM) for notebook in notebooks]
