"""Thirty hand-ins of a made-up class, in the forms in which they really come; a roster with two more; a deadline."""

from __future__ import annotations

import io
import json
import os
import zipfile
from functools import partial
from pathlib import Path

from dlmini.files import write_text
from dlmini.grade.class_run import Wishes
from dlmini.grade.demo.answers import HOSTILE, NEARLY, RIGHT
from dlmini.grade.demo.lesson import EXERCISE, lesson
from dlmini.grade.gradebook.deadline import deadline
from dlmini.grade.gradebook.tables import csv_text

DUE = "2026-03-20 23:59"
FILE, NOTEBOOK = lesson.file, f"{lesson.name}.ipynb"
LATIN = "Ada Bea Cem Dan Eva Fay Gus Hal Ida Jan Kim Lea Max Nia Oto Pia Quy Ria Sam Tia Ugo Vera Wim Xue Yan Zoe"
OTHERS = ["Аня Демо", "Боря Демо", "Ёлка Демо", "Юра Демо", "Uwe Absent", "Ute Absent"]
NAMES = [*(f"{name} Demo" for name in LATIN.split(" ")), *OTHERS]


def make_class(folder: Path, jobs: int) -> Wishes:
    """Write all hand-ins, and the roster beside their folder; how they are to be graded."""
    if folder.exists():
        raise ValueError(f"{folder} is there already; name another folder with -o")
    folder.mkdir(parents=True)
    for name, put in zip(NAMES[:-2], hand_ins(), strict=True):
        put(folder, name)
    roster = folder.parent / "roster.csv"
    rows = [{"name": name, "id": f"s{i:03}", "email": f"s{i:03}@example.org"} for i, name in enumerate(NAMES)]
    rows[3]["due"] = "2026-03-25 23:59"  # was ill
    write_text(roster, csv_text(["name", "id", "email", "due"], rows))
    return Wishes(jobs, given=EXERCISE, roster=roster, deadline=deadline(DUE, 10.0, 50.0))


def hand_ins() -> list:
    """Functions that write a hand-in into a class folder, under a name."""
    forms = [folder_of, zip_of, notebook_of, windows_of, old_windows_of, twice_of, late_of, very_late_of]
    plain = [RIGHT[0], RIGHT[3], RIGHT[5], *NEARLY.values(), *HOSTILE.values()]
    found = [partial(form, text=text) for form, text in zip(forms, RIGHT, strict=True)]
    found += [partial(folder_of, text=text) for text in plain]
    return [*found, stub_of, empty_of, bomb_of, link_of, paper_of, broken_of]


def put(file: Path, data: bytes, day: str = "2026-03-19 18:30") -> None:
    """A file, as if handed in at that time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    time = deadline(day).due
    os.utime(file, (time, time))


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


# ---- forms of honest hand-ins ----


def folder_of(where: Path, name: str, text: str, day: str = "2026-03-19 18:30") -> None:
    put(where / name / FILE, text.encode(), day)


def zip_of(where: Path, name: str, text: str) -> None:
    put(where / f"{name}.zip", zipped({f"my work/{FILE}": text.encode(), "my work/notes.txt": b"see inside"}))


def notebook_of(where: Path, name: str, text: str) -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": part} for part in ("%matplotlib inline", text)
    ]
    put(where / name / NOTEBOOK, json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode())


def windows_of(where: Path, name: str, text: str) -> None:
    put(where / name / FILE, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())


def old_windows_of(where: Path, name: str, text: str) -> None:
    put(where / name / FILE, f"# coding: cp1251\n# Проверено\n{text}".encode("cp1251"))


def twice_of(where: Path, name: str, text: str) -> None:
    """First a poor one, then a good one; the time is in the name."""
    put(where / f"{name}_2026-03-12_10-00" / FILE, NEARLY["the sum"].encode())
    put(where / f"{name}_2026-03-19_21-15" / FILE, text.encode())


def late_of(where: Path, name: str, text: str) -> None:
    folder_of(where, name, text, "2026-03-21 08:00")


def very_late_of(where: Path, name: str, text: str) -> None:
    folder_of(where, name, text, "2026-03-29 08:00")


# ---- others ----


def stub_of(where: Path, name: str) -> None:
    folder_of(where, name, EXERCISE)


def empty_of(where: Path, name: str) -> None:
    (where / name).mkdir()


def bomb_of(where: Path, name: str) -> None:
    """A few kilobytes that would become gigabytes."""
    inner = zipped({f"{i}.zip": zipped({f"{j}.txt": b"\0" * (1 << 24) for j in range(4)}) for i in range(8)})
    put(where / f"{name}.zip", zipped({f"{i}.zip": inner for i in range(8)}))


def link_of(where: Path, name: str) -> None:
    """A link to somebody else's file; where there are none, nothing."""
    (where / name).mkdir()
    if os.name == "posix":
        (where / name / FILE).symlink_to("/etc/passwd")
        os.utime(where / name / FILE, (deadline(DUE).due - 3600,) * 2, follow_symlinks=False)


def paper_of(where: Path, name: str) -> None:
    put(where / name / "report.pdf", b"%PDF-1.4 a page without a program")


def broken_of(where: Path, name: str) -> None:
    """An upload that broke off."""
    data = zipped({FILE: RIGHT[0].encode()})
    put(where / f"{name}.zip", data[: len(data) // 2])
