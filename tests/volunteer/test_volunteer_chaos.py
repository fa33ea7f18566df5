"""The real server and real clients, killed at random: the final model is the undisturbed one, to the bit.

Short form: 3 clients, 18 units, 4 kills. Long form (DLMINI_LONG=1): 20 clients, 400 units, 30 kills.
Uploads are cut, damaged, duplicated, replayed, sent for others and delayed past the deadline meanwhile. A second run
gives some units up: it says which, goes on, and ends with the mean of the others.
"""

import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np
import pytest
from examples import LONG
from volunteer_servers import until

from dlmini.volunteer.described import fingerprint
from dlmini.volunteer.dispatch_events import event_of
from dlmini.volunteer.dispatcher import replay
from dlmini.volunteer.store import Store
from dlmini.volunteer.work import Work, mean_of

CLIENTS, UNITS, ITERATIONS, KILLS = (20, 40, 10, 30) if LONG else (3, 6, 3, 4)
WORK = Work("softmax_regression", "blobs", UNITS, ITERATIONS, steps=60, batch=8, optimizer="adam", rate=0.05)
ENVIRONMENT = os.environ | {"DLMINI_KERNELS": "numpy", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
SERVE = ["--host", "127.0.0.1", "--quorum", "1", "--max-error", "500", "--max-total", "900", "--deadline", "4"]
DESCRIBED = [word for name, value in WORK.plain().items() for word in (f"--{name}", str(value))]
IMPATIENT = ["--host", "127.0.0.1", "--quorum", "1", "--max-error", "0", "--max-total", "1", "--deadline", "60"]


class Project:
    """The processes: each can be killed, and started again in its place."""

    def __init__(self, folder: Path, terms=SERVE):
        self.folder, self.running, self.terms = folder, {}, terms
        with socket.create_server(("127.0.0.1", 0)) as found:  # a port that nobody has now
            self.port = found.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self, who: str) -> None:
        if who == "server":
            order = ["serve", str(self.folder / "project"), "--port", str(self.port), *self.terms, *DESCRIBED]
        else:
            order = ["join", self.url, "--name", who, "--folder", str(self.folder / who), "--ram", "0", "--disk", "0"]
        command = [sys.executable, "-m", "dlmini", "volunteer", *order]
        log = open(self.folder / f"{who}.log", "ab")  # noqa: SIM115 - closed with the process
        self.running[who] = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log), log

    def kill(self, who: str) -> None:
        process, log = self.running.pop(who)
        process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        process.wait()
        log.close()

    def status(self) -> dict:
        return httpx.get(self.url + "/status", trust_env=False, timeout=10).json()

    def answers(self) -> bool:
        return bool(self.status())


@pytest.fixture
def processes(tmp_path):
    it = Project(tmp_path)
    yield it
    for who in [*it.running]:
        it.kill(who)


class Nuisance:
    """A host of its own that never does any good, and must do no harm."""

    def __init__(self, url: str):
        self.web = httpx.Client(base_url=url, trust_env=False, timeout=5)
        self.me, self.late, self.delayed, self.seen = None, [], [], Counter()

    def bother(self, coin: random.Random) -> None:
        with suppress(httpx.HTTPError):
            if self.me is None:
                token = self.web.post("/join", json={"name": "nuisance"}).json()["token"]
                self.me = {"authorization": f"Bearer {token}"}
            if self.delayed:
                self.seen[self.post(*self.delayed.pop(0))] += 1  # past its deadline, or just in time: it is true
            reply = self.web.post("/ask", headers=self.me)
            if reply.status_code == 200 and coin.random() < 0.5:
                self.honest(reply.json(), coin)
            elif reply.status_code == 200:
                unit = reply.json()
                self.late.append(f"/report/{unit['unit']}/{unit['copy']}")
                self.damaged(self.late[-1])
                self.cut(self.late[-1])
            if self.late:
                self.sent_late(coin.choice(self.late))
            self.sent_for_others(coin.randrange(UNITS * ITERATIONS))

    def honest(self, unit, coin):
        """A true answer: uploaded twice, or kept until it is asked for no more; and replayed for another unit."""
        start = self.web.get(f"/weights/{unit['iteration']}", headers=self.me).content
        data = WORK.train(np.frombuffer(start, "<f4").astype(np.float32), unit["unit"]).tobytes()
        report = f"/report/{unit['unit']}/{unit['copy']}", data, fingerprint(data)
        if coin.random() < 0.5:
            self.delayed.append(report)
            return
        assert self.post(*report) in (200, 404, 409, 429)
        assert self.post(*report) in (404, 409, 429)
        assert self.post(f"/report/{unit['unit'] + 1}/{unit['copy']}", *report[1:]) in (404, 409, 429)

    def post(self, path, data, checksum):
        return self.web.post(path, content=data, headers=self.me | {"x-checksum": checksum}).status_code

    def damaged(self, path):
        data = np.ones(WORK.size, "<f4").tobytes()
        assert self.post(path, data, fingerprint(b"another")) in (400, 409, 429)

    def sent_late(self, path):
        """Only what surely is late: 409. What is still awaited is reported as an error, by its owner."""
        with suppress(httpx.HTTPError):
            self.web.post(path.replace("report", "error"), content=b"on purpose", headers=self.me)
        data = np.ones(WORK.size, "<f4").tobytes()
        assert self.post(path, data, fingerprint(data)) in (404, 409, 429)

    def sent_for_others(self, unit):
        data = np.ones(WORK.size, "<f4").tobytes()
        taken = {path.split("/")[2] for path in self.late}
        if str(unit) not in taken:
            assert self.post(f"/report/{unit}/0", data, fingerprint(data)) in (404, 409, 429)

    def fail(self, coin: random.Random) -> None:
        """Take a unit, and report an error."""
        if self.me is None:
            self.me = {"authorization": f"Bearer {self.web.post('/join', json={'name': 'nuisance'}).json()['token']}"}
        reply = self.web.post("/ask", headers=self.me)
        if reply.status_code == 200:
            unit = reply.json()
            self.web.post(f"/error/{unit['unit']}/{unit['copy']}", content=b"on purpose", headers=self.me)
        threading.Event().wait(0.3 * coin.random())  # others shall have some, too

    def cut(self, path):
        place = self.web.base_url
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {4 * WORK.size}\r\n"
        with suppress(OSError), socket.create_connection((place.host, place.port), timeout=5) as sock:
            sock.sendall((head + f"authorization: {self.me['authorization']}\r\n\r\n").encode() + b"half")


@pytest.mark.slow
def test_kills_and_bad_uploads_change_no_bit_of_the_final_model(processes, monkeypatch):
    monkeypatch.setenv("DLMINI_KERNELS", "numpy")
    coin, database = random.Random(5), processes.folder / "project" / "project.db"
    processes.start("server")
    until(processes.answers)
    nuisance, done = Nuisance(processes.url), 0
    clients = [f"client {k}" for k in range(CLIENTS)]
    for who in clients:
        processes.start(who)
    for kill in range(KILLS):
        goal = UNITS * ITERATIONS * (kill + 1) // (KILLS + 2)
        until(lambda goal=goal: processes.status()["done"] >= goal, 300)
        nuisance.bother(coin)
        who = "server" if kill % 4 == 3 or kill == 1 else coin.choice(clients)
        before = processes.status()["done"]
        processes.kill(who)
        if who == "server":
            with sqlite3.connect(database) as found:
                assert found.execute("pragma integrity_check").fetchone() == ("ok",)
        processes.start(who)
        until(processes.answers)
        assert processes.status()["done"] >= max(before, done)  # nothing that was accepted is lost
        done = before
    until(lambda: processes.status()["finished"], 300)
    found = processes.status()
    assert found["given_up"] == {}
    assert found["done"] == UNITS * ITERATIONS
    processes.kill("server")
    store = Store(processes.folder / "project")
    try:
        assert np.array_equal(np.frombuffer(store.weights(ITERATIONS), "<f4"), WORK.alone())
        state = replay(map(event_of, store.journal()), seed=WORK.seed)
        assert state.done == UNITS * ITERATIONS
    finally:
        store.close()


def without(given_up) -> np.ndarray:
    """The final model of this machine alone, when these units have no answer."""
    w = WORK.initial()
    for t in range(ITERATIONS):
        units = (unit for unit in range(t * UNITS, (t + 1) * UNITS) if unit not in given_up)
        mean = mean_of(WORK.train(w, unit) for unit in units)
        w = w if mean is None else mean
    return w


@pytest.mark.slow
def test_units_that_are_given_up_are_named_and_training_goes_on_without_them(tmp_path, monkeypatch):
    monkeypatch.setenv("DLMINI_KERNELS", "numpy")
    processes, coin = Project(tmp_path, IMPATIENT), random.Random(6)
    try:
        processes.start("server")
        until(processes.answers)
        for k in range(min(CLIENTS, 4)):
            processes.start(f"client {k}")
        nuisance = Nuisance(processes.url)
        while not (found := processes.status())["finished"]:
            with suppress(httpx.HTTPError):
                nuisance.fail(coin)
            if len(found["given_up"]) == 2 and "server" in processes.running and not nuisance.seen["killed"]:
                processes.kill("server")
                processes.start("server")
                until(processes.answers)
                nuisance.seen["killed"] += 1
        given_up = {int(unit) for unit in found["given_up"]}
        assert given_up
        assert all("errors, more than 0" in why for why in found["given_up"].values())
        assert found["done"] == UNITS * ITERATIONS - len(given_up)
        processes.kill("server")
        store = Store(tmp_path / "project")
        assert np.array_equal(np.frombuffer(store.weights(ITERATIONS), "<f4"), without(given_up))
        store.close()
    finally:
        for who in [*processes.running]:
            processes.kill(who)
