"""Programs run by an ordinary user, where root runs the tests."""

import os
import subprocess
import sys
from functools import cache

import pytest

from dlmini.grade.sandbox.visible_files import HOUSE, passable

NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def python_for_all() -> str:
    """An interpreter of this version with which an ordinary user can import the library; else the test is skipped."""
    if os.name != "posix" or os.getuid():
        pytest.skip("only root can become another user")
    if not passable(str(HOUSE)):
        pytest.skip("the library lies where other users may not go")
    if (found := usable()) is None:
        pytest.skip("an ordinary user can run no interpreter of this version with these packages")
    return found


@cache
def usable() -> str | None:
    """Tried out: an interpreter may lie in the open, and its own library where only its owner may go."""
    usual = f"/usr/bin/python3.{sys.version_info.minor}"
    return next((p for p in (sys.executable, usual) if os.path.exists(p) and runs(p)), None)


def runs(python: str) -> bool:
    try:
        done = subprocess.run(
            [python, "-c", "import dlmini.grade.examine"], env=surroundings(), cwd="/", capture_output=True, **AS_NOBODY
        )
    except OSError:  # the interpreter itself is out of reach
        return False
    return done.returncode == 0


def surroundings() -> dict[str, str]:
    """What such a program finds: the library and its packages, no home."""
    paths = [str(HOUSE.parent), *(p for p in sys.path if p.endswith("site-packages"))]
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(paths), "HOME": "/nonexistent"}
