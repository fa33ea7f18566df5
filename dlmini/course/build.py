"""All notebooks from all lessons, all exercises from all solutions; and whether those on disk are these.

    course/NN_topic.md     ->  notebooks/NN_topic.ipynb
    solutions/NN_topic.py  ->  exercises/NN_topic.py

One way only: what is generated is committed, but never edited.
"""

from __future__ import annotations

import json
from pathlib import Path

from dlmini.course import glossary, lessons
from dlmini.course.notebook import notebook
from dlmini.course.strip import done_in, strip, stubs
from dlmini.files import write_bytes, write_text

LESSONS = "<!-- lessons -->"  # in index.md: here comes the table of those that exist


def notebooks(root: Path) -> dict[Path, str]:
    """Every notebook that should be there, and its text."""
    course = root / "course"
    known = glossary.terms_of(course)
    texts = {it.name: glossary.linked(read(course / f"{it.name}.md"), known) for it in lessons.written(course)}
    if known:
        texts[glossary.PAGE] = read(course / f"{glossary.PAGE}.md")
    index = read(course / "index.md")
    if LESSONS not in index:
        raise ValueError(f"course/index.md needs the line {LESSONS} where the table of lessons is to be")
    texts["index"] = index.replace(LESSONS, lessons.table(lessons.written(course)))
    return {root / "notebooks" / f"{name}.ipynb": notebook(text, name) for name, text in texts.items()}


def exercises(root: Path) -> dict[Path, bytes]:
    """Every exercise that should be there, and its content."""
    found = {}
    for file in sorted((root / "solutions").glob("*.py")):
        stub = strip(file.read_bytes(), file.name)
        if not stubs(stub.decode()):
            raise ValueError(f"solutions/{file.name} has no marked region: students would be given the whole solution")
        found[root / "exercises" / file.name] = stub
    return found


def build(root: Path) -> list[Path]:
    """Write the notebooks; which of them were not so before."""
    stale = {file: text for file, text in notebooks(root).items() if not file.exists() or read(file) != text}
    for file, text in stale.items():
        write_text(file, text)
    return list(stale)


def cut(root: Path, force: bool = False) -> list[Path]:
    """Write the exercises; which of them were not so before. Work that somebody has done in them is not overwritten."""
    stale = {file: stub for file, stub in exercises(root).items() if not same(file, stub)}
    for file, stub in stale.items():
        done = done_in(read(file), stub.decode()) if file.exists() and not force else []
        if done:
            raise ValueError(f"exercises/{file.name} has work in it ({', '.join(done)}); --force overwrites it")
    for file, stub in stale.items():
        write_bytes(file, stub)
    return list(stale)


def problems(root: Path) -> list[str]:
    """What is not as it should be, as sentences."""
    books = notebooks(root)
    found = [said for file, text in books.items() if (said := judged(file, text))]
    found += [stray(file, "course") for file in listed(root / "notebooks", "*.ipynb") if file not in books]
    cuts = exercises(root)
    again = "differs from its solution, cut; `dlmini course strip` makes it again"
    found += [f"exercises/{file.name} {again}" for file, stub in cuts.items() if not same(file, stub)]
    return found + [stray(file, "solutions") for file in listed(root / "exercises", "*.py") if file not in cuts]


def judged(file: Path, text: str) -> str:
    """What is wrong with a notebook; empty if nothing."""
    name, again = f"notebooks/{file.name}", "`dlmini course build` makes it again"
    if not file.exists():
        return f"{name} is missing; {again}"
    if read(file) == text:
        return ""
    cells, wanted = json.loads(read(file))["cells"], json.loads(text)["cells"]
    if any(cell.get("outputs") or cell.get("execution_count") for cell in cells):
        return f"{name} has been run and saved with its outputs; {again}"
    if cells == wanted:
        return f"{name} says the same, but Jupyter has saved it with other metadata; {again}"
    return f"{name} differs from course/{file.stem}.md; edit the lesson there, then {again}"


def stray(file: Path, source: str) -> str:
    return f"{file.parent.name}/{file.name} has no source in {source}/; write one, or delete it"


def listed(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def read(file: Path) -> str:
    """Its text, with line ends as in Unix whatever git made of them."""
    return file.read_text(encoding="utf-8")


def same(file: Path, content: bytes) -> bool:
    return file.exists() and file.read_bytes().replace(b"\r\n", b"\n") == content.replace(b"\r\n", b"\n")
