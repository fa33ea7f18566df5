"""A class of hostile students beside twenty honest ones, in the forms in which classes come; and a program to grade it.

    python hostile_class.py make FOLDER [--every 10]
    python hostile_class.py grade FOLDER OUT [--sandbox bwrap] [--jobs 4] [--secret FILE] [--resume] [--alone]
`make` writes what everybody deserves to FOLDER/deserved.json. `grade` ends with a line of JSON: marks, seconds, and the
largest memory of the judge. --alone grades every honest hand-in by itself.
"""

import argparse
import io
import json
import os
import random
import re
import resource
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import honest_answers
from fresh_attacks import ATTACKS
from strange_hand_ins import ARCHIVES, FILE, FOLDERS, NOTEBOOKS, PLAIN, STEM, TEXTS

from dlmini.grade.class_run import Wishes, grade_class
from dlmini.grade.lesson import find_lesson
from dlmini.grade.sandbox.child_processes import be_private
from dlmini.grade.sandbox.levels import choose
from dlmini.grade.sandbox.limits import Limits

HERE = Path(__file__).parent
LESSON = replace(find_lesson("00"), limits=Limits(cpu=1, wall=4.0, total=60.0))
RIGHT = honest_answers.texts()[0]
NOISE = """
for c in "\\u2028\\u2029\\x85\\x0b\\x1c\\ud800\\x00\\x1b[2J":
    print(repr(c), c, "\\u2028", c.encode("utf-8", "replace"))
"""
PLACES, MOODLE, SCOPE, FLAT = "class", "moodle.zip", "gradescope", "flat"  # names of the four parts


# ---- who is in the class: (name, what fills a place, or a file and its bytes, the most that is deserved) ----


def programs():
    """Adversaries: their attack stands for every function. Those on top of a right answer deserve its points."""
    for file in sorted((HERE / "adversaries").glob("*.py")):
        text = file.read_text(encoding="utf-8")
        on_top = "On top of the solution" in text
        yield file.stem, RIGHT + text if on_top else text, LESSON.points if on_top else 0
    for name, text in ATTACKS.items():
        yield name, text, 0
    yield "prints line ends", RIGHT + NOISE, LESSON.points


def hostile(coin):
    """All families: programs, archives, texts, notebooks and folders."""
    tasks = " = ".join(LESSON.tasks())
    for name, text, most in programs():
        called = f"\n{tasks} = attack\n" if "def attack" in text else ""
        yield name, FILE, (text + called).encode("utf-8", "surrogatepass"), most
    for family in (*ARCHIVES, *TEXTS, *NOTEBOOKS):
        file = "work.zip" if family in ARCHIVES else FILE if family in TEXTS else f"{STEM}.ipynb"
        yield family.__name__, file, family(coin), 0
    for family in FOLDERS:
        yield family.__name__, family, b"", 0
    yield "shut", shut, b"", 0


def shut(place, coin):
    """A folder that only its owner, or root, may enter."""
    place.mkdir()
    (place / FILE).write_text(PLAIN)
    place.chmod(0)


# ---- four parts: a folder of folders and zips, the zip of a Moodle export, a Gradescope export, a flat one ----


class Parts:
    """Puts hand-ins into the four parts, in turn; and knows under which name each will be in the table."""

    def __init__(self, folder):
        self.folder, self.zip, self.rows, self.number = folder, io.BytesIO(), [], 0
        for name in (PLACES, SCOPE, FLAT):
            (folder / name).mkdir(parents=True)
        self.archive = zipfile.ZipFile(self.zip, "w", zipfile.ZIP_DEFLATED)

    def put(self, name, what, data, coin):
        self.number += 1
        if callable(what):
            what(self.folder / PLACES / name, coin)
            return name
        return (self.plain, self.moodle, self.scope, self.flat)[self.number % 4](name, what, data)

    def plain(self, name, file, data):
        if file.endswith(".zip"):
            (self.folder / PLACES / f"{name}.zip").write_bytes(data)
        else:
            (self.folder / PLACES / name).mkdir()
            (self.folder / PLACES / name / file).write_bytes(data)
        return name

    def moodle(self, name, file, data):
        self.archive.writestr(f"{name}_{self.number}_assignsubmission_file_/{file}", data)
        return f"{name}_{self.number}"

    def scope(self, name, file, data):
        (self.folder / SCOPE / f"submission_{self.number}").mkdir()
        (self.folder / SCOPE / f"submission_{self.number}" / file).write_bytes(data)
        self.rows.append(f"submission_{self.number}:\n  :submitters:\n  - :name: {name}\n    :sid: 's{self.number}'\n")
        return name

    def flat(self, name, file, data):
        (self.folder / FLAT / f"{name}_{self.number}_assignsubmission_file_{file}").write_bytes(data)
        return f"{name}_{self.number}"

    def close(self):
        self.archive.close()
        (self.folder / MOODLE).write_bytes(self.zip.getvalue())
        (self.folder / SCOPE / "submission_metadata.yml").write_text("".join(self.rows), encoding="utf-8")
        for stray in ("grades.csv", "readme.txt", ".DS_Store"):
            (self.folder / PLACES / stray).write_text("not handed in")


def make(folder, every=1, seed=0):
    """Write a class; {name in the table: (points deserved at most, whether honest)}. every: of how many hostile one."""
    coin, parts, found = random.Random(seed), Parts(folder), {}
    good = [
        (f"O'Honest {i} {form}", file, data, LESSON.points)
        for i, (form, file, data) in enumerate(honest_answers.hand_ins())
    ]
    bad = [(f"evil {name}", what, data, most) for name, what, data, most in hostile(coin)]
    some = [*good[:: max(1, every // 2)], *bad[::every]]
    coin.shuffle(some)
    for name, what, data, most in some:
        found[parts.put(name, what, data, coin)] = [most, name.startswith("O'Honest")]
    parts.close()
    (folder / "deserved.json").write_text(json.dumps(found), encoding="utf-8")
    return found


def roots(folder):
    return [folder / name for name in (PLACES, MOODLE, SCOPE, FLAT)]


def told(class_):
    """What of a class must be equal whenever it is graded: marks, and how each test ended."""
    return {g.name: [g.score, g.complete, [v.score for v in g.verdicts]] for g in class_}


def alone(out, sandbox):
    """Every honest hand-in as the only one there is: marks by its number."""
    found = {}
    for number, (_, file, data) in enumerate(honest_answers.hand_ins()):
        place = out / "alone" / str(number)
        place.mkdir(parents=True)
        (place / file).write_bytes(data)
        (graded,) = grade_class(LESSON, [place], out / "graded" / str(number), sandbox, Wishes(one=True))
        found[f"O'Honest {number} "] = told([graded])[graded.name]
    return found


def peak(status=Path("/proc/self/status")):
    """The most memory this program has held, in megabytes. Elsewhere than on Linux as getrusage has it.

    ru_maxrss of Linux outlives exec, and so begins with the size of whoever started this program.
    """
    if status.exists():
        return int(re.search(r"^VmHWM:\s*(\d+) kB", status.read_text(), re.MULTILINE)[1]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("what", choices=["make", "grade"])
    words.add_argument("folder", type=Path)
    words.add_argument("out", type=Path, nargs="?")
    words.add_argument("--every", type=int, default=1)
    words.add_argument("--sandbox", default="auto")
    words.add_argument("--jobs", type=int, default=4)  # most of them wait
    words.add_argument("--secret", type=Path)
    words.add_argument("--resume", action="store_true")
    words.add_argument("--alone", action="store_true")
    said = words.parse_args()
    if said.what == "make":
        make(said.folder, said.every)
        return
    be_private()
    began, sandbox = time.monotonic(), choose(said.sandbox)
    if said.alone:
        marks = alone(said.out, sandbox)
    else:
        wishes = Wishes(said.jobs, said.resume, said.secret)
        marks = told(grade_class(LESSON, roots(said.folder), said.out, sandbox, wishes))
    seconds = round(time.monotonic() - began, 1)
    print(json.dumps({"marks": marks, "seconds": seconds, "megabytes": peak(), "who": os.getuid()}))


if __name__ == "__main__":
    main()
