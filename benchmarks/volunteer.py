"""One server for volunteers, on this machine's cores which the load generator shares.

Small units dispatched and reported a second (BOINC's authors report 102 a second from one inexpensive server: Anderson
et al., 2005); 100 uploads of 1 MB at once; 200 idle hosts that ask every 10 seconds; the dispatcher alone in a crowd.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from statistics import median

import httpx
import numpy as np
import psutil

from dlmini.volunteer.crowd import Crowd
from dlmini.volunteer.described import fingerprint
from dlmini.volunteer.engine import Engine
from dlmini.volunteer.store import Store
from dlmini.volunteer.unit import Terms
from dlmini.volunteer.work import Work

BOINC = 102.0
LANES = 64  # hosts at work: a server allows each 200 requests a second, so few of them would be what is measured
SECONDS, IDLE, UPLOADS = 10.0, 200, 100
SMALL = Work("softmax_regression", "blobs", units=480, iterations=10**6, steps=1, batch=1)
LARGE = Work("volunteer_net", "mnist", units=300, iterations=2, steps=1, batch=1)


class Served:
    """A server process with some work; `with` ends it."""

    def __init__(self, work: Work):
        self.work = work

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        with socket.create_server(("127.0.0.1", 0)) as found:
            self.port = found.getsockname()[1]
        given = [word for name, value in self.work.plain().items() for word in (f"--{name}", str(value))]
        order = ["serve", self.folder.name, "--host", "127.0.0.1", "--port", str(self.port), "--quorum", "1"]
        self.process = subprocess.Popen([sys.executable, "-m", "dlmini", "volunteer", *order, *given])
        self.watched = psutil.Process(self.process.pid)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                httpx.get(f"http://127.0.0.1:{self.port}/work", trust_env=False)
                return self
            except httpx.TransportError:
                time.sleep(0.1)
        raise TimeoutError("the server did not come up")

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def megabytes(self) -> float:
        return self.watched.memory_info().rss / 1e6

    def cpu(self) -> float:
        spent = self.watched.cpu_times()
        return spent.user + spent.system


class Lane:
    """One host on one connection: the least of HTTP, so that the server is what is measured."""

    async def open(self, port: int, name: str):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        _, body = await self.call("POST", "/join", json.dumps({"name": name}).encode())
        self.token = json.loads(body)["token"]
        return self

    async def call(self, verb, path, body=b"", checksum=""):
        token = getattr(self, "token", "")
        head = f"{verb} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n"
        self.writer.write(f"{head}authorization: Bearer {token}\r\nx-checksum: {checksum}\r\n\r\n".encode() + body)
        await self.writer.drain()
        reply = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = reply.partition("content-length:")[2].partition("\r")[0]
        return int(reply.split()[1]), await self.reader.readexactly(int(length or 0))

    async def one(self, data: bytes, checksum: str) -> bool:
        """A unit asked for and reported; False if there was none."""
        status, body = await self.call("POST", "/ask")
        if status != 200:
            return False
        unit = json.loads(body)
        status, body = await self.call("POST", f"/report/{unit['unit']}/{unit['copy']}", data, checksum)
        if status != 200:
            raise RuntimeError(body)
        return True


async def lanes(port: int, count: int) -> list[Lane]:
    return [await Lane().open(port, f"host {k}") for k in range(count)]


async def small_units(port: int) -> float:
    """Units a second."""
    data = np.zeros(SMALL.size, "<f4").tobytes()
    checksum, crew, done, end = fingerprint(data), await lanes(port, LANES), [0], time.perf_counter() + SECONDS

    async def run(lane):
        while time.perf_counter() < end:
            taken = await lane.one(data, checksum)  # not `done[0] += await`: that adds to what was before the wait
            done[0] += taken

    began = time.perf_counter()
    await asyncio.gather(*map(run, crew))
    return done[0] / (time.perf_counter() - began)


async def uploads(served: Served) -> tuple[float, float]:
    """Seconds for all of them, and the most memory meanwhile."""
    data = np.zeros(LARGE.size, "<f4").tobytes()
    checksum, crew, most = fingerprint(data), await lanes(served.port, UPLOADS), [0.0]

    async def watch():
        while True:
            most[0] = max(most[0], served.megabytes())
            await asyncio.sleep(0.01)

    watching, began = asyncio.create_task(watch()), time.perf_counter()
    taken = await asyncio.gather(*(lane.one(data, checksum) for lane in crew))
    watching.cancel()
    assert all(taken)
    return time.perf_counter() - began, max(most[0], served.megabytes())


async def idle(served: Served) -> float:
    """The share of a core that idle hosts cost. The project is paused, so nobody gets work."""
    crew = await lanes(served.port, IDLE)
    admin, store = Lane(), Store(served.folder.name)
    admin.token = store.about("admin")
    store.close()
    admin.reader, admin.writer = await asyncio.open_connection("127.0.0.1", served.port)
    assert (await admin.call("POST", "/admin/pause"))[0] == 200
    before, began = served.cpu(), time.perf_counter()
    for k in range(2 * IDLE):  # 20 seconds of 200 hosts every 10 seconds, evenly
        await crew[k % IDLE].call("POST", "/ask")
        await asyncio.sleep(max(0.0, began + k * 10 / IDLE - time.perf_counter()))
    return (served.cpu() - before) / (time.perf_counter() - began)


def crowd(hosts: int, units: int) -> tuple[float, float, float, int]:
    """Seconds in all, and microseconds of an event in the first and in the last fifth."""
    it, marks = Crowd(hosts, units, seed=1), []
    began = time.perf_counter()
    it.run(lambda events: marks.append((events, time.perf_counter())))
    spent = time.perf_counter() - began
    fifth = max(1, len(marks) // 5)

    def cost(part):
        (a, s), (b, t) = part[0], part[-1]
        return 1e6 * (t - s) / max(1, b - a)

    return spent, cost(marks[: fifth + 1]), cost(marks[-fifth - 1 :]), sum(it.dispatcher.counts.values())


class Asker:
    """One host of an engine without a network; a second passes with every unit."""

    def __init__(self, folder: str):
        self.engine, self.done = Engine(folder, SMALL, Terms(1, 1, 3, 6, 2, 600.0)), 0
        self.host, self.data = self.engine.join(0.0, "one", "")[0], np.zeros(SMALL.size, "<f4").tobytes()
        self.checksum = fingerprint(self.data)

    def units(self, count: int) -> float:
        """Asked for, reported and accepted; microseconds of one."""
        began = time.perf_counter()
        for at in range(self.done, self.done + count):
            send = self.engine.ask(float(at), self.host)
            self.engine.report(float(at), self.host, send.unit, send.copy, self.data, self.checksum)
        self.done += count
        return 1e6 * (time.perf_counter() - began) / count

    def fill(self, count: int) -> None:
        """The same in one transaction: the file grows as it would, only sooner."""
        whole, self.engine.store.together = self.engine.store.together, nullcontext
        with whole():
            self.units(count)
        self.engine.store.together = whole


def answering(units: int) -> tuple[float, float, float]:
    """Microseconds of a unit asked for, reported and accepted: at a thousand units in the file, and at `units`. And
    seconds until a server that begins anew knows all of it."""
    with tempfile.TemporaryDirectory() as folder:
        it = Asker(folder)
        it.units(1000)
        few = median(it.units(1000) for _ in range(9))
        it.fill(units - 20_000)
        it.units(1000)
        many = median(it.units(1000) for _ in range(9))
        it.engine.store.close()
        began = time.perf_counter()
        engine = Engine(folder)
        restart = time.perf_counter() - began
        assert engine.it.done == units
        engine.store.close()
    return few, many, restart


def rows() -> list[dict]:
    full = os.environ.get("DLMINI_LONG") == "1"
    with Served(SMALL) as served:
        rate, small = asyncio.run(small_units(served.port)), served.megabytes()
    with Served(LARGE) as served:
        seconds, most = asyncio.run(uploads(served))
    with Served(SMALL) as served:
        share = asyncio.run(idle(served))
    few, many, restart = answering(10**6 if full else 10**5)
    spent, first, last, results = crowd(100_000, 480_000) if full else crowd(10_000, 48_000)
    units = row("units a second", f"{rate:.0f}", f"{BOINC:.0f} (BOINC)", rate / BOINC, 2) | {"aim": 10}
    return [
        units,
        row(f"{UPLOADS} uploads of 1 MB at once", f"{seconds:.1f} s, {most:.0f} MB", "300 MB", 300 / most, 1),
        row("memory under small units", f"{small:.0f} MB", "300 MB", 300 / small, 1),
        row(f"{IDLE} idle hosts", f"{share:.1%} of a core", "20 %", 0.2 / share, 1),
        row(
            f"answering with {10**6 if full else 10**5:,} units",
            f"{many:.0f} us",
            f"{few:.0f} us at 1,000",
            few / many,
            0.7,
        ),
        row("... restart of that server", f"{restart:.2f} s", "10 s", 10 / restart, 1),
        row(f"dispatcher: {results:,} results", f"{spent:.0f} s", "120 s", 120 / spent, 1),
        row("... an event at the end", f"{last:.0f} us", f"{first:.0f} us at first", first / last, 0.7),
    ]


def row(name, ours, peer, ratio, floor) -> dict:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio, "floor": floor}
