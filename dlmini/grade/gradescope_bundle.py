"""The zip that Gradescope wants: setup.sh builds the machine, run_autograder grades /autograder/submission.

The library travels inside, so that the machine needs nothing but packages; bubblewrap is installed and used where the
platform lets it work. Source of the layout: gradescope-autograders.readthedocs.io, "Autograder specifications".
"""

from __future__ import annotations

import secrets
import zipfile
from importlib.metadata import requires
from pathlib import Path

from dlmini.files import write
from dlmini.grade.lesson import Lesson
from dlmini.grade.sandbox.visible_files import HOUSE
from dlmini.grade.secret import NAME, read

SETUP = """#!/usr/bin/env bash
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends python3 python3-pip python3-venv bubblewrap
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install {packages}
"""
RUN = """#!/usr/bin/env bash
set -euo pipefail
cd /autograder/source
rm -rf /autograder/grades
chmod 600 {secret}
/autograder/venv/bin/python -m dlmini grade {lesson} /autograder/submission -o /autograder/grades --secret {secret} \\
    --gradescope /autograder/results/results.json
"""
LEFT_OUT = ("data/bundled", "__pycache__")


def make(lesson: Lesson, out: Path, secret: Path | None = None) -> Path:
    """Write the bundle. Data sets stay at home: exercises are graded on random numbers.

    secret: a file with the secret to draw them from; by default a new one. Inputs of a submission stay the same when
    it is graded again, as on any other day.
    """
    hidden = read(secret) if secret else secrets.token_bytes(32)

    def fill(stream) -> None:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bundle:
            pack(bundle, lesson, hidden)

    return write(out, fill)


def pack(bundle: zipfile.ZipFile, lesson: Lesson, secret: bytes) -> None:
    needed = [r.partition(";")[0].strip() for r in requires("dlmini") or [] if "extra ==" not in r]
    _script(bundle, "setup.sh", SETUP.format(packages=" ".join(f"'{r}'" for r in needed)))
    _script(bundle, "run_autograder", RUN.format(lesson=lesson.number, secret=NAME))
    bundle.writestr(_info(NAME, 0o600), secret.hex() + "\n")
    for file in sorted(HOUSE.rglob("*")):
        inside = file.relative_to(HOUSE.parent).as_posix()
        if file.is_file() and not any(part in inside for part in LEFT_OUT):
            bundle.writestr(_info(inside, 0o644), file.read_bytes())


def _script(bundle: zipfile.ZipFile, name: str, text: str) -> None:
    bundle.writestr(_info(name, 0o755), text)


def _info(name: str, mode: int) -> zipfile.ZipInfo:
    """Without a date, so that the same library gives the same bundle."""
    info = zipfile.ZipInfo(name)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
    return info
