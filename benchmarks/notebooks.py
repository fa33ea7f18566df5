"""How long every notebook takes, in a kernel of its own: at most 90 s in the fast profile, 6 minutes in the normal one.

There is no peer: the ratio is the accepted time over ours, so that 1 is the floor. The syllabus has what
came out in the normal profile. One way, and some lessons only, with a line as soon as each has ended:

    python -m benchmarks.notebooks normal solutions 04 12
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
ACCEPTED, AIM = {"fast": 90.0, "normal": 360.0}, {"fast": 30.0, "normal": 120.0}  # seconds on two cores
WAYS = (("fast", "solutions"), ("fast", "exercises"), ("normal", "solutions"), ("normal", "exercises"))
RUN = PROJECT / "tests" / "course" / "notebook_run.py"


def seconds(notebook: Path, profile: str, written: str) -> float:
    """From nothing to its end, the kernel's start included; all exercises solved, or none begun."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PROJECT / written, f"{folder}/exercises")
        private = dict.fromkeys(("DLMINI_WORK", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"), folder)
        env = {**os.environ, **private, "DLMINI_PROFILE": profile}
        start = time.perf_counter()
        subprocess.run([sys.executable, RUN, notebook, f"{folder}/pid"], env=env, check=True)
        return time.perf_counter() - start


def lessons(*wanted: str) -> list[Path]:
    """All notebooks, or those whose names begin so."""
    found = sorted((PROJECT / "notebooks").glob("*.ipynb"))
    return [notebook for notebook in found if not wanted or notebook.stem.startswith(wanted)]


def rows() -> list[dict]:
    seconds(lessons("index")[0], "fast", "solutions")  # after this the kernels are compiled
    return [
        goal(f"{it.stem}, {profile}, {written}", seconds(it, profile, written), "s", ACCEPTED[profile], AIM[profile])
        for profile, written in WAYS
        for it in lessons()
    ]


def one_way(profile: str = "", written: str = "", *wanted: str) -> None:
    """A line for each notebook: seconds, minutes, and how busy the machine was."""
    if (profile, written) not in WAYS:
        sys.exit(f"say one of {'; '.join(f'{a} {b}' for a, b in WAYS)}, then numbers of lessons, if not all are meant")
    for it in lessons(*wanted):
        took = seconds(it, profile, written)
        over = "  TOO LONG" if took > ACCEPTED[profile] else ""
        print(f"{it.stem:26} {took:6.1f} s = {took / 60:.1f} min, load {os.getloadavg()[0]:.1f}{over}", flush=True)


if __name__ == "__main__":
    one_way(*sys.argv[1:])
