"""A volunteer: takes a unit, trains it, sends the weights back; again and again.

Killed and started again it goes on where it was: its token and the unit under way lie in its folder. Without a server
it waits, longer each time up to a minute. What the server says is checked: the work is data, weights have a checksum.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path

import httpx
import numpy as np
import platformdirs

from dlmini import files
from dlmini.volunteer.described import fingerprint, work_of
from dlmini.volunteer.limits import Limits
from dlmini.volunteer.names import address_of, checked_name, own_kind

LONGEST_WAIT = 60.0
MOST = 1000  # volunteers of one name on one machine
KEEP_EVERY = 5.0  # seconds between checkpoints of a unit
UNWANTED = (401, 404, 409, 410, 413, 422)  # what a server says to an answer that it will never take


FOREIGN = "what came is no project's answer; does something stand between, such as the page of a wireless network?"


def taken(lock: Path) -> sqlite3.Connection | None:
    """This lock, which ends with the process however that ends; None if somebody has it."""
    held = None
    try:
        held = sqlite3.connect(lock, isolation_level=None, timeout=0, check_same_thread=False)
        held.execute("begin exclusive")
    except sqlite3.Error as error:
        if held is not None:
            held.close()
        if "locked" in str(error):
            return None
        raise OSError(f"{lock} cannot be written ({error}); mend its folder, or name another") from error
    return held


def is_unit(said) -> bool:
    return isinstance(said, dict) and all(isinstance(said.get(name), int) for name in ("unit", "copy", "iteration"))


def said(reply: httpx.Response, right: Callable[[dict], bool] = bool) -> dict:
    """The object that a reply brings, if it is as it must be; else it is as if nothing had come."""
    with suppress(ValueError, RecursionError):
        found = reply.json()
        if isinstance(found, dict) and right(found):
            return found
    raise httpx.ReadError(FOREIGN)


class Client:
    """url: of the server. folder: where this volunteer remembers. say: who is told. wait(seconds): True ends it."""

    def __init__(self, url: str, name: str, folder=None, limits: Limits | None = None, say=print, verify=True):
        self.url, self.name, self.say, self.limits = address_of(url), checked_name(name), say, limits or Limits()
        place = platformdirs.user_cache_dir("dlmini", appauthor=False)
        named = blake2b(f"{self.url} {name}".encode(), digest_size=8).hexdigest()
        self.named = folder is not None
        self.folder = Path(folder) if self.named else Path(place) / "volunteer" / named
        self.folder.mkdir(parents=True, exist_ok=True)
        self.http = httpx.Client(base_url=self.url, timeout=60, verify=verify, trust_env=False)
        self.ended = threading.Event()
        self.token = self.described = None
        self.tries = self.done = 0

    def stay(self, units: int | None = None) -> int:
        """Work until the project is finished, `stop` is called, or `units` are done. Returns how many were."""
        self.limits.keep_to_cores()
        with self.own_folder():
            return self.works(units)

    @contextmanager
    def own_folder(self):
        """Nobody else's, until the end: two volunteers with one token would be one host, and each would take the
        other's unit away. Where no folder was named, the second of a machine has the next one."""
        first = self.folder
        for number in range(1, MOST):
            self.folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
            self.folder.mkdir(parents=True, exist_ok=True)
            if (held := taken(self.folder / "volunteer.lock")) is not None:
                break
            if self.named:
                raise OSError(f"another volunteer works in {first}; name another folder for this one")
        else:
            raise OSError(f"{MOST - 1} volunteers of this machine are at work already; name a folder for this one")
        try:
            yield
        finally:
            held.close()
            self.folder = first

    def works(self, units: int | None) -> int:
        while not self.ended.is_set() and (units is None or self.done < units):
            if why := self.limits.why_not(time.localtime().tm_hour, self.folder):
                self.rest(why, LONGEST_WAIT)
            elif self.attempt(self.turn) == "finished":
                self.say("the project is finished; thank you")
                break
        return self.done

    def stop(self) -> None:
        self.ended.set()

    def attempt(self, work: Callable):
        """Do it; if the server cannot be reached or says no, wait and let the caller try again."""
        try:
            found = work()
            self.tries = 0
            return found
        except httpx.TransportError as error:
            self.rest(f"{self.url} cannot be reached ({files.plainly(error)})", min(LONGEST_WAIT, 0.5 * 2**self.tries))
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            if status == 401:
                self.begin_anew()
            after = error.response.headers.get("retry-after", "")
            wait = min(LONGEST_WAIT, float(after) if after.isdigit() else 0.5 * 2**self.tries)
            self.rest(f"the server says {status}: {sentence(error.response)}", wait)
        self.tries = min(self.tries + 1, 10)
        return None

    def rest(self, why: str, seconds: float) -> None:
        self.say(why)
        self.ended.wait(seconds * random.uniform(0.5, 1.0))  # so that thirty clients do not come back at once

    # ---- one turn ----

    def turn(self) -> str:
        """Go on with what is under way, or ask for work."""
        self.introduce()
        unit = self.recall("unit.json")
        unit = unit if is_unit(unit) else self.ask()
        if unit in (None, "finished"):
            return unit or ""
        self.work_on(unit)
        return "done"

    def introduce(self) -> None:
        if self.token is None:
            known = self.recall("token.json") or {}
            if known.get("url") != self.url:
                reply = self.call("POST", "/join", json={"name": self.name, "kind": own_kind()})
                known = said(reply, lambda it: isinstance(it.get("token"), str)) | {"url": self.url}
                self.remember("token.json", known)
            self.token = str(known.get("token"))
        if self.described is None:
            self.described = work_of(said(self.call("GET", "/work")))

    def ask(self):
        reply = self.call("POST", "/ask")
        if reply.status_code == 204:
            if "x-finished" in reply.headers:
                return "finished"
            after = reply.headers.get("retry-after", "")
            self.ended.wait(min(float(after) if after.isdigit() else 10.0, LONGEST_WAIT) * random.uniform(0.5, 1.0))
            return None
        unit = said(reply, is_unit)
        self.remember("unit.json", unit)
        self.forget("progress.npz")
        return unit

    def work_on(self, unit: dict) -> None:
        """Train and report. What cannot be done is reported, too."""
        place = f"{int(unit['unit'])}/{int(unit['copy'])}"
        try:
            w = self.train(unit)
            if not np.isfinite(w).all():
                raise FloatingPointError("training has led to no finite numbers; its rate may be too high")
        except (ValueError, FloatingPointError, MemoryError) as error:
            self.deliver(f"/error/{place}", files.why(error).encode())
        else:
            data = w.astype("<f4").tobytes()
            self.deliver(f"/report/{place}", data, {"x-checksum": fingerprint(data)})
        self.forget("unit.json")
        self.forget("progress.npz")
        self.done += 1

    def train(self, unit: dict) -> np.ndarray:
        start = self.numbers(f"/weights/{int(unit['iteration'])}")
        if start is None:
            raise httpx.ReadError(FOREIGN)
        more = {"drift": self.numbers(f"/drift/{int(unit['unit'])}")} if self.described.drifts else {}
        return self.described.train(start, int(unit["unit"]), self.keeper(unit), self.progress(unit), **more)

    def numbers(self, path: str) -> np.ndarray | None:
        """What lies there, unharmed; None if there is nothing."""
        reply = self.call("GET", path)
        if reply.status_code == 204:
            return None
        if fingerprint(reply.content) != reply.headers.get("x-checksum"):
            raise httpx.ReadError("the weights were damaged on the way")
        return np.frombuffer(reply.content, "<f4").astype(np.float32)

    def deliver(self, path: str, data: bytes, headers: dict | None = None) -> None:
        """Until the server has it, or does not want it: an answer that is late, repeated, unfit, or of a project that
        is no longer there, is no fault worth a retry."""
        while not self.ended.is_set():
            if self.attempt(partial(self.deliver_once, path, data, headers)):
                return

    def deliver_once(self, path: str, data: bytes, headers: dict | None) -> bool:
        reply = self.http.post(path, content=data, headers=self.credentials() | (headers or {}))
        if reply.status_code == 401:
            self.begin_anew()
        if reply.status_code in UNWANTED:
            self.say(f"not taken: {sentence(reply)}")
        else:
            reply.raise_for_status()
        return True

    def call(self, verb: str, path: str, **more) -> httpx.Response:
        reply = self.http.request(verb, path, headers=self.credentials(), **more)
        if reply.status_code == 410:  # what we were at is long over
            self.forget("unit.json")
        reply.raise_for_status()
        return reply

    def credentials(self) -> dict:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    def begin_anew(self) -> None:
        """The server does not know us: another project is there now. Its work is another, and our unit is nobody's."""
        self.forget("token.json")
        self.forget("unit.json")
        self.token = self.described = None

    # ---- what lies in the folder ----

    def remember(self, name: str, value: dict) -> None:
        files.write_text(self.folder / name, json.dumps(value))

    def recall(self, name: str) -> dict | None:
        """None if it is not there, or damaged."""
        with suppress(*files.DAMAGED):
            found = json.loads((self.folder / name).read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else None
        return None

    def forget(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def keeper(self, unit: dict) -> Callable:
        """Keeps the progress of a unit, now and then."""
        last = [time.monotonic()]

        def keep(step: int, memory: Callable) -> None:
            if time.monotonic() - last[0] >= KEEP_EVERY:
                kept = memory() | {"step": step, "unit": int(unit["unit"]), "token": self.token}
                files.write(self.folder / "progress.npz", lambda stream: np.savez(stream, **kept))
                last[0] = time.monotonic()

        return keep

    def progress(self, unit: dict) -> dict | None:
        """What was kept of this unit, if it is whole."""
        with suppress(*files.DAMAGED), np.load(self.folder / "progress.npz", allow_pickle=False) as kept:
            found = {name: kept[name] for name in kept.files}
            if int(found["unit"]) == int(unit["unit"]) and str(found["token"]) == self.token:
                return found
        return None


def follow_parent(client: Client) -> None:
    """End when standard input does: whoever started this is gone. In the middle of a unit there is nobody to tell."""

    def watch():
        sys.stdin.buffer.read()
        client.stop()
        threading.Event().wait(2.0)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def sentence(reply: httpx.Response) -> str:
    """What the server says went wrong, in one line."""
    with suppress(ValueError, AttributeError):
        return " ".join(str(reply.json().get("error")).split())[:300]
    return reply.reason_phrase
