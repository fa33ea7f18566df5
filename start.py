"""The two commands of the README, for a machine that has nothing but Python.

    python start.py          train a small network and watch it learn
    python start.py test     run all tests

Both make a virtual environment in `.venv` (once) and install dlmini into it.
What follows the first word is handed on:  python start.py test -k conv
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
DEMO = ["-m", "dlmini", "train", "--model", "lenet", "--data", "fashion-mnist", "--epochs", "2"]
TESTS = ["-m", "pytest"]


def install(extra: str) -> None:
    """Bring `.venv` up to date; does nothing when pyproject.toml has not changed since the last time."""
    stamps = [VENV / f"installed{extra}", VENV / "installed[test]"]  # who can test can do all
    wanted = f"{sys.version}\n{HERE}\n" + (HERE / "pyproject.toml").read_text(encoding="utf-8")
    if PYTHON.exists() and any(s.exists() and s.read_text(encoding="utf-8") == wanted for s in stamps):
        return
    print("Making the virtual environment .venv (the first time takes a minute) ...", flush=True)
    venv.EnvBuilder(with_pip=True, clear=VENV.exists() and not PYTHON.exists()).create(VENV)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.check_call([*pip, "-e", f"{HERE}{extra}"])
    stamps[0].write_text(wanted, encoding="utf-8")


def main(words: list[str]) -> int:
    if not (3, 11) <= sys.version_info < (3, 15):
        print(f"dlmini needs Python 3.11 to 3.14, this is {sys.version.split()[0]}: start it with another python.")
        return 2
    testing = words[:1] == ["test"]
    install("[test]" if testing else "")
    command = TESTS + words[1:] if testing else (["-m", "dlmini", *words] if words else DEMO)
    return subprocess.call([PYTHON, *command], cwd=HERE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
