"""The book, bound: pages of all lessons that exist, written to a folder."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path

from dlmini.course import lessons
from dlmini.course.book import pages
from dlmini.course.book import slides as decks
from dlmini.course.book.runs import run as run_notebook
from dlmini.course.build import exercises, notebooks
from dlmini.course.folder import clone
from dlmini.files import write_text

NEEDED = ("jupytext", "latex2mathml", "mdit_py_plugins", "jinja2", "nbclient")
ONE_FILE = "book.html"
NOTES = {
    "": "Code without what it leaves: this book was made with --no-run.",
    "fast": "Experiments were run in the fast profile, smaller than in class, so some figures differ from the text.",
    "normal": "Experiments were run as large as in class.",
}


def bind(
    root: Path,
    folder: Path,
    run: bool = True,
    profile: str = "fast",
    one_file: bool = False,
    tell: Callable[[str], None] = print,
) -> list[str]:
    """Write the book of the course in `root`; returns a sentence for each lesson that did not reach its end."""
    demand_tools()
    demand_folder(folder)
    made, failures = lesson_pages(root, folder, profile if run else "", tell)
    course = root / "course"
    book = [pages.index(course), *made, *pages.glossary(course), pages.api(), pages.lecturers(course)]
    for page in book:
        put(folder / f"{page.name}.html", pages.written(page, book))
    if one_file:
        put(folder / ONE_FILE, pages.together(book))
    return failures


def lesson_pages(root: Path, folder: Path, profile: str, tell: Callable) -> tuple[list[pages.Page], list[str]]:
    """A page for each lesson, run where a profile is given; and what failed."""
    made, failures = [], []
    texts = {file.stem: text for file, text in notebooks(root).items()}
    stubs, given = handed_out(root), solved(root)
    for it in lessons.written(root / "course"):
        begun, notebook, said = time.perf_counter(), json.loads(texts[it.name]), "written"
        if profile:
            ran = run_notebook(texts[it.name], it.name, given, folder, profile)
            notebook, said = ran.notebook, "outputs kept from before" if ran.kept else "run"
            if ran.failure:
                failures.append(f"{it.name}: {ran.failure}")
                said = f"failed: {ran.failure}; its page shows what came before"
        try:
            made.append(pages.lesson(it, notebook, stubs.get(it.name, ""), root / "course", NOTES[profile]))
        except (ValueError, OSError) as error:
            raise type(error)(f"course/{it.name}.md: {error}") from error
        tell(f"{it.title} · {said} ({time.perf_counter() - begun:.0f} s)")
    return made, failures


def handed_out(root: Path) -> dict[str, str]:
    """What students get of each exercise, by its name: cut from the solutions, or as a wheel carries it."""
    if (root / "solutions").is_dir():
        return {file.stem: stub.decode() for file, stub in exercises(root).items()}
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted((root / "exercises").glob("*.py"))}


def solved(root: Path) -> Path:
    """The exercises that lessons run with; a wheel has no solutions, and lessons reach their end without."""
    return root / "solutions" if (root / "solutions").is_dir() else root / "exercises"


def slides(root: Path, folder: Path, names: list[str], profile: str, tell: Callable[[str], None] = print) -> list[str]:
    """A page of slides for each lesson; returns a sentence for each that did not reach its end."""
    demand_tools()
    demand_folder(folder)
    texts, failures = {file.stem: text for file, text in notebooks(root).items()}, []
    for it in [it for it in lessons.written(root / "course") if it.name in names]:
        ran = run_notebook(texts[it.name], it.name, solved(root), folder, profile)
        failures += [f"{it.name}: {ran.failure}"] if ran.failure else []
        made = decks.deck(it, ran.notebook, root / "course")
        put(folder / f"{it.name}.html", decks.page(it, made))
        tell(f"{it.title} · {len(made)} slides: {folder / f'{it.name}.html'}")
    return failures


def demand_tools() -> None:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        way = 'pip install -e ".[book]" in the clone' if clone() else 'pip install "dlmini[book]"'
        raise ImportError(f"the book needs {', '.join(missing)}: {way} brings it")


def demand_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file; name a folder for the book")
    folder.mkdir(parents=True, exist_ok=True)


def put(file: Path, text: str) -> None:
    write_text(file, text)
