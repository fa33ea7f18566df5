"""The other Pythons of this machine that dlmini supports: one line each, its version and its path.

Asked are pyenv's versions, uv's, and python3.N on the PATH; of each minor version the newest is named. What is found
and not used is said on stderr.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
HOMES = [os.environ.get("PYENV_ROOT", "~/.pyenv") + "/versions", "~/.local/share/uv/python"]
ASK = """
import sys, sysconfig
from importlib.util import find_spec
plain = sys.implementation.name == "cpython" and sys.version_info.releaselevel == "final" and find_spec("ensurepip")
print(*sys.version_info[:3], int(bool(plain) and not sysconfig.get_config_var("Py_GIL_DISABLED")))
"""


def candidates() -> list[Path]:
    """Everything that is called a Python 3; a shim among them may turn out to be none."""
    homes = [Path(home).expanduser() for home in HOMES]
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    kept = [python for home in homes if home.is_dir() for python in sorted(home.glob("*/bin/python3"))]
    named = [file for folder in folders if folder.is_dir() for file in sorted(folder.glob("python3.*"))]
    return kept + [file for file in named if re.fullmatch(r"python3\.\d+(\.exe)?", file.name)]


def version(python: Path) -> tuple[int, ...] | None:
    """As it says itself: major, minor, micro, and 1 if it is an ordinary release that can make environments."""
    try:
        asked = subprocess.run([python, "-c", ASK], capture_output=True, text=True, timeout=60, check=True)
        return tuple(map(int, asked.stdout.split()))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def supported() -> tuple[tuple[int, int], tuple[int, int]]:
    """requires-python of pyproject.toml: from, and below."""
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    low, high = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', text).groups()
    return (3, int(low)), (3, int(high))


def others(mine: tuple[int, int]) -> dict[tuple[int, int], tuple[tuple[int, ...], Path]]:
    """By minor version, from the least that is supported, but not `mine`: the newest release, and where it is."""
    found = {}
    for python in candidates():
        said = version(python)
        if said is None or said[:2] == mine or said[:2] < supported()[0]:
            continue
        if not said[3]:
            print(f".ci/run: {python} is no ordinary release, or has no ensurepip: not tested", file=sys.stderr)
        else:
            found[said[:2]] = max(found.get(said[:2], ((), python)), (said[:3], python), key=lambda one: one[0])
    return found


def main() -> None:
    high = supported()[1]
    for minor, (number, python) in sorted(others(sys.version_info[:2]).items()):
        if minor < high:
            print(".".join(map(str, number)), python)
        else:
            print(f".ci/run: {python} is newer than requires-python allows: not tested", file=sys.stderr)


if __name__ == "__main__":
    main()
