"""The commands of the README, for a machine that has nothing but Python.

    python start.py          open the course in JupyterLab
    python start.py test     run all tests

The first time, each makes a virtual environment in `.venv` and installs dlmini into it. Other words are those of the
command line:  python start.py doctor,  python start.py train --workers 4
What a student writes lies in `dlmini-course` in the home folder (or where DLMINI_WORK says), never in this clone.
"""

import os
import platform
import signal
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / os.environ.get("DLMINI_VENV", ".venv")  # another one for each Python that is to be tried
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ours() -> bool:
    """Whether the environment that is there was made with this Python, and is whole; venv would mix two."""
    made = VENV / "pyvenv.cfg"
    version = f"version = {platform.python_version()}\n"
    return PYTHON.exists() and made.exists() and version in made.read_text(encoding="utf-8")


def install(extra: str) -> None:
    """Bring `.venv` up to date; does nothing when pyproject.toml has not changed since the last time."""
    stamps = [VENV / f"installed{extra}", VENV / "installed[test]"]  # who can test can do all
    wanted = f"{sys.version}\n{HERE}\n" + (HERE / "pyproject.toml").read_text(encoding="utf-8")
    if PYTHON.exists() and any(s.exists() and s.read_text(encoding="utf-8") == wanted for s in stamps):
        return
    print(f"Making the virtual environment {VENV.name} (the first time takes a minute or two) ...", flush=True)
    venv.EnvBuilder(with_pip=True, clear=VENV.exists() and not ours()).create(VENV)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.check_call([*pip, "-e", f"{HERE}{extra}"])
    stamps[0].write_text(wanted, encoding="utf-8")


def command(words: list[str]) -> list[str]:
    """What Python is to run."""
    if words[:1] == ["test"]:
        return ["-m", "pytest", *words[1:]]
    options_alone = not words or (words[0].startswith("-") and words[0] not in ("--help", "--version"))
    return ["-m", "dlmini", *["lab"] * options_alone, *words]


def run(words: list[str]) -> int:
    """Run it here, so that Ctrl-C and every other signal reach it and nobody else."""
    if words[1] == "pytest" or words[2] == "course":  # tests, and those who write lessons, work in the clone
        os.chdir(HERE)
    else:
        os.environ["DLMINI_WORK"] = os.environ.get("DLMINI_WORK") or str(Path.home() / "dlmini-course")
    if os.name == "posix":
        os.execv(PYTHON, [str(PYTHON), *words])
    process = subprocess.Popen([PYTHON, *words])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Windows cannot replace a process; there Ctrl-C reaches both
    return process.wait()


def main(words: list[str]) -> int:
    if not (3, 11) <= sys.version_info < (3, 14):
        print(f"dlmini needs Python 3.11 to 3.13, this is {sys.version.split()[0]}: start it with another python.")
        return 2
    install({"test": "[test]", "course": "[book]"}.get("".join(words[:1]), "[lab]"))
    return run(command(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
