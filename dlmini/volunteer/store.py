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
create table if not exists bases (unit integer primary key, version integer);
create table if not exists memory (name text primary key, kind text, value blob) without rowid;
create table if not exists snapshot (id integer primary key, number integer, state text);
create index if not exists in_turn on answers (accepted) where accepted > 0;
"""


def unreadable(file: Path, error: sqlite3.Error) -> OSError:
    return OSError(f"{file} cannot be used as a project's file ({error}); mend it, or name another folder")


def identity(file: Path) -> tuple | None:
    """Which file this is; None if there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Store:
    def __init__(self, folder, durable: bool = False):
        self.file, self.held = Path(folder) / "project.db", None
        self.file.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.db = sqlite3.connect(self.file, isolation_level=None, timeout=30, check_same_thread=False)
        except sqlite3.Error as error:
            raise unreadable(self.file, error) from error
        try:
            self.db.execute("pragma journal_mode=wal")
            self.db.execute(f"pragma synchronous={'full' if durable else 'normal'}")
            self.db.executescript(TABLES)
            self.known = identity(self.file)
        except sqlite3.DatabaseError as error:
            self.db.close()
            raise unreadable(self.file, error) from error

    @contextmanager
    def together(self):
        """All of it, or nothing. Where the file was deleted SQLite would go on writing to what nobody will find."""
        if identity(self.file) != self.known:
            raise sqlite3.OperationalError(f"{self.file} was deleted or replaced; put it back, or end the server")
        self.db.execute("begin immediate")
        try:
            yield
            self.db.execute("commit")
        except BaseException:
            if self.db.in_transaction:  # a full disk has ended it already
                self.db.execute("rollback")
            raise

    def about(self, name: str):
        found = self.db.execute("select value from about where name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def note(self, name: str, value) -> None:
        self.db.execute("insert or replace into about values (?, ?)", (name, json.dumps(value)))

    def log(self, line: list) -> int:
        """The number of the line."""
        return self.db.execute("insert into journal (line) values (?)", (json.dumps(line),)).lastrowid

    def journal(self, after: int = 0):
        for (line,) in self.db.execute("select line from journal where number > ? order by number", (after,)):
            yield json.loads(line)

    def keep_snapshot(self, number: int, state: dict) -> None:
        """The state after line `number` of the journal. The one before is not needed any more."""
        self.db.execute("insert or replace into snapshot values (0, ?, ?)", (number, json.dumps(state)))

    def snapshot(self) -> tuple[int, dict | None]:
        """(line of the journal, state after it); (0, None) if there is none."""
        found = self.db.execute("select number, state from snapshot where id = 0").fetchone()
        return (0, None) if found is None else (found[0], json.loads(found[1]))

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

    def accept(self, unit: int, copy: int, turn: int) -> None:
        """turn: the how manyth accepted answer it is, from 1 on."""
        self.db.execute("update answers set accepted = ? where unit = ? and copy = ?", (turn, unit, copy))
        self.db.execute("delete from answers where unit = ? and accepted = 0", (unit,))

    def accepted(self, first: int, end: int):
        """The accepted answers of units first to end - 1 as (unit, numbers), in their order, one at a time."""
        question = "select unit, weights from answers where unit >= ? and unit < ? and accepted > 0 order by unit"
        for unit, weights in self.db.execute(question, (first, end)):
            yield unit, np.frombuffer(weights, "<f4")

    def waiting(self) -> list[tuple[int, np.ndarray]]:
        """The accepted answers that were not dropped yet, in the order in which they were accepted."""
        question = "select unit, weights from answers indexed by in_turn where accepted > 0 order by accepted"
        return [(unit, np.frombuffer(weights, "<f4")) for unit, weights in self.db.execute(question)]

    def drop_answers(self, end: int) -> None:
        """Those of all units before `end`."""
        self.db.execute("delete from answers where unit < ?", (end,))

    def drop_answer(self, unit: int) -> None:
        self.db.execute("delete from answers where unit = ?", (unit,))

    def keep_base(self, unit: int, version: int) -> None:
        """Which weights a unit begins with, where that does not follow from its number."""
        self.db.execute("insert into bases values (?, ?)", (unit, version))

    def base(self, unit: int) -> int | None:
        found = self.db.execute("select version from bases where unit = ?", (unit,)).fetchone()
        return found and found[0]

    def bases(self) -> dict[int, int]:
        """Of all units that are open or wait to be used: there are few."""
        return dict(self.db.execute("select unit, version from bases where unit >= 0"))

    def drop_base(self, unit: int) -> None:
        self.db.execute("delete from bases where unit = ?", (unit,))

    def keep_memory(self, name: str, kind: str, value: bytes) -> None:
        self.db.execute("insert or replace into memory values (?, ?, ?)", (name, kind, value))

    def memory(self, name: str) -> tuple[str, bytes] | None:
        return self.db.execute("select kind, value from memory where name = ?", (name,)).fetchone()

    def memories(self) -> list[str]:
        return [name for (name,) in self.db.execute("select name from memory")]

    def keep_weights(self, iteration: int, w: np.ndarray) -> None:
        """The weights with which an iteration begins."""
        self.db.execute("insert into weights values (?, null, ?)", (iteration, w.astype("<f4").tobytes()))

    def drop_weights(self, before: int) -> None:
        """Those of iterations before this one, from the newest down to where it was done already."""
        first = self.about("dropped") or 0
        if before > first:
            self.db.execute("update weights set weights = null where iteration >= ? and iteration < ?", (first, before))
            self.note("dropped", before)

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
        process, however that ends. A file that cannot be written is refused here, before anybody works for it."""
        place = self.file.with_name("server.lock")
        try:
            self.held = sqlite3.connect(place, isolation_level=None, timeout=0)
            self.held.execute("begin exclusive")
            place = self.file
            with self.together():
                self.note("served", True)
        except sqlite3.Error as error:
            if place != self.file and "locked" in str(error):
                raise OSError(
                    f"another server has the project in {self.file.parent}; end it, or name another folder"
                ) from error
            raise unreadable(place, error) from error

    def close(self) -> None:
        if self.held is not None:
            self.held.close()
        self.db.close()
