"""The project's memory on disk: one SQLite file in WAL mode.

What was committed survives SIGKILL at any moment. After a power cut the file is whole, but with `durable=False` the
last commits may be missing (SQLite's synchronous=NORMAL): hosts were then thanked for answers that are gone, and the
units are sent out again. `durable=True` waits for the disk at every commit.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from pathlib import Path

import numpy as np

TABLES = """
create table if not exists about (name text primary key, value text) without rowid;
create table if not exists journal (number integer primary key, line text);
create table if not exists hosts (number integer primary key, name text, token text, kind text);
create table if not exists answers (unit integer, copy integer, digest text, accepted integer, weights blob,
    primary key (unit, copy)) without rowid;
create table if not exists weights (iteration integer primary key, accuracy real, weights blob);
"""


class Store:
    def __init__(self, folder, durable: bool = False):
        self.file, self.held = Path(folder) / "project.db", None
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.db = sqlite3.connect(self.file, isolation_level=None, timeout=30, check_same_thread=False)
        self.db.execute("pragma journal_mode=wal")
        self.db.execute(f"pragma synchronous={'full' if durable else 'normal'}")
        self.db.executescript(TABLES)

    @contextmanager
    def together(self):
        """All of it, or nothing."""
        self.db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self.db.execute("rollback")
            raise
        self.db.execute("commit")

    def about(self, name: str):
        found = self.db.execute("select value from about where name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def note(self, name: str, value) -> None:
        self.db.execute("insert or replace into about values (?, ?)", (name, json.dumps(value)))

    def log(self, line: list) -> None:
        self.db.execute("insert into journal (line) values (?)", (json.dumps(line),))

    def journal(self):
        for (line,) in self.db.execute("select line from journal order by number"):
            yield json.loads(line)

    def add_host(self, number: int, name: str, token: str, kind: str) -> None:
        self.db.execute("insert into hosts values (?, ?, ?, ?)", (number, name, token, kind))

    def hosts(self) -> list[tuple]:
        return self.db.execute("select number, name, token, kind from hosts order by number").fetchall()

    def keep_answer(self, unit: int, copy: int, digest: str, weights: bytes) -> None:
        self.db.execute("insert into answers values (?, ?, ?, 0, ?)", (unit, copy, digest, weights))

    def digests(self, unit: int, copies) -> dict[int, str]:
        found = self.db.execute("select copy, digest from answers where unit = ? order by copy", (unit,))
        return {copy: digest for copy, digest in found if copy in copies}

    def answer(self, unit: int, copy: int) -> np.ndarray:
        found = self.db.execute("select weights from answers where unit = ? and copy = ?", (unit, copy)).fetchone()
        return np.frombuffer(found[0], "<f4")

    def accept(self, unit: int, copy: int) -> None:
        self.db.execute("update answers set accepted = 1 where unit = ? and copy = ?", (unit, copy))
        self.db.execute("delete from answers where unit = ? and accepted = 0", (unit,))

    def accepted(self, first: int, end: int):
        """The accepted answers of units first to end - 1, in their order, one at a time."""
        question = "select weights from answers where unit >= ? and unit < ? and accepted = 1 order by unit"
        for (weights,) in self.db.execute(question, (first, end)):
            yield np.frombuffer(weights, "<f4")

    def keep_weights(self, iteration: int, w: np.ndarray, units: int) -> None:
        """The weights with which an iteration begins. What led to them is not needed any more."""
        self.db.execute("insert into weights values (?, null, ?)", (iteration, w.astype("<f4").tobytes()))
        self.db.execute("update weights set weights = null where iteration = ?", (iteration - 2,))
        self.db.execute("delete from answers where unit < ?", (iteration * units,))

    def weights(self, iteration: int) -> bytes | None:
        found = self.db.execute("select weights from weights where iteration = ?", (iteration,)).fetchone()
        return found and found[0]

    def newest(self) -> int:
        """The iteration under way; after the last one their number."""
        return self.db.execute("select ifnull(max(iteration), 0) from weights").fetchone()[0]

    def reading(self, ask):
        """What `ask(store)` finds on a connection of its own: for threads that are not the server's."""
        other = Store(self.file.parent)
        try:
            return ask(other)
        finally:
            other.close()

    def keep_accuracy(self, iteration: int, accuracy: float) -> None:
        self.db.execute("update weights set accuracy = ? where iteration = ?", (accuracy, iteration))

    def unlooked(self) -> tuple[int, bytes] | None:
        """The newest weights that were not tried on the test set yet."""
        question = "select iteration, weights from weights where iteration >= ? and accuracy is null"
        return self.db.execute(question + " order by iteration desc limit 1", (self.newest() - 1,)).fetchone()

    def accuracies(self, most: int = 500) -> list[tuple[int, float]]:
        """By iteration; of very many, every so manyth."""
        stride = 1 + self.newest() // most
        question = "select max(iteration), accuracy from weights where accuracy not null group by iteration / ?"
        return self.db.execute(question, (stride,)).fetchall()

    def hold(self) -> None:
        """Be the only server of this project: two of them would each believe their own memory. It ends with the
        process, however that ends."""
        self.held = sqlite3.connect(self.file.with_name("server.lock"), isolation_level=None, timeout=0)
        try:
            self.held.execute("begin exclusive")
        except sqlite3.OperationalError as error:
            self.held.close()
            raise OSError(
                f"another server has the project in {self.file.parent}; end it, or name another folder"
            ) from error

    def close(self) -> None:
        if self.held is not None:
            self.held.close()
        self.db.close()
