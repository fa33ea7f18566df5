"""A project of one's own, from a notebook: a server in the background, volunteers on this machine, a live view.

    with Project(task, units=20, iterations=5, steps=10) as project:
        project.join(4)          # four volunteers, each a process of this machine
        project                  # as the last line of a cell: what the page shows, live
        project.wait()
        project.accuracy, project.weights()
task: a Classify of a zoo's network on a bundled set, or a Work that says the same in words. With a strategy it is a
federation, whose clients the volunteers act (federated_work.py):

    Project(task, strategy=FedAvg(Krum(2)), clients=10, epochs=2, iterations=5)
Others join it by `dlmini volunteer join URL`, if `host` is an address that they reach. Closed, forgotten, or at the end
of Python, it ends its volunteers and its server; volunteers also end by themselves when this process is killed. With a
folder of its own (`folder=`) a project goes on where it was.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from os import PathLike
from pathlib import Path

import httpx
import numpy as np

from dlmini.checks import refuse, whole
from dlmini.volunteer.described import EXAMPLE, work_for
from dlmini.volunteer.engine import Engine
from dlmini.volunteer.looker import APART
from dlmini.volunteer.names import checked_name
from dlmini.volunteer.server import Server, http, listening
from dlmini.volunteer.unit import Terms

ALONE = Terms(quorum=1, target=1, max_error=10, max_total=20, max_success=2, delay=600.0)
JOIN = [sys.executable, "-m", "dlmini", "volunteer", "join"]


class Project:
    """task: what is to be learned; None goes on with what lies in `folder`. terms: quorum, deadline ... folder: where
    it lives; by default nowhere for long. host: the address to listen at, 127.0.0.1 being this machine alone. port: 0
    is any that is free. how: of a task units, iterations, steps, optimizer, rate, seed; or strategy, clients, share ...
    """

    def __init__(self, task=None, terms: Terms | None = None, folder=None, host="127.0.0.1", port=0, **how):
        if task is None and folder is None:
            refuse(TypeError, "task", task, EXAMPLE)
        work = None if task is None else work_for(task, **how)
        if terms is not None and not isinstance(terms, Terms):
            refuse(TypeError, "terms", terms, "Terms(quorum=2, ...), or None")
        if not isinstance(host, str) or not host:
            refuse(TypeError, "host", host, "an address of this machine, such as 127.0.0.1 or 0.0.0.0")
        if folder is not None and (not isinstance(folder, str | PathLike) or not str(folder)):
            refuse(TypeError, "folder", folder, "a folder's path, or None")
        port = whole(port, "port", 0, 65535)
        self.own = tempfile.TemporaryDirectory(prefix="volunteer_") if folder is None else None
        self.folder = Path(self.own.name if self.own else folder)
        self.engine = Engine(self.folder, work, terms or ALONE)
        self.volunteers, last = [], contextlib.ExitStack()  # what is done at the end: the last that began comes first
        self.end = weakref.finalize(self, last.close)
        if self.own:
            last.callback(self.own.cleanup)
        last.callback(self.engine.store.close)
        try:
            self.engine.hold()
            sock = last.enter_context(listening(host, port))
            self.server = http(Server(self.engine))
            at = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
            self.url = f"http://{f'[{at}]' if ':' in at else at}:{sock.getsockname()[1]}"
            self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [sock]}, daemon=True)
            last.callback(ended, self.server, self.thread)
            self.thread.start()
            last.callback(leave, self.volunteers)
            self.web = last.enter_context(httpx.Client(base_url=self.url, trust_env=False, timeout=30))
            self.until(lambda: self.server.started, 60)
        except BaseException:  # or a notebook that tries again would find its own lock
            self.end()
            raise

    def join(self, count: int = 1, name: str = "volunteer") -> list[str]:
        """So many volunteers more, each a process of this machine; their names."""
        names = []
        for _ in range(whole(count, "count", 1, 100)):
            names.append(checked_name(f"{name} {len(self.volunteers) + 1}"))
            place = self.folder / names[-1].replace(" ", "_")
            options = ["--name", names[-1], "--folder", str(place), "--ram", "0.2", "--disk", "0.2", "--with-parent"]
            log = open(self.folder / f"{place.name}.log", "ab")  # noqa: SIM115 - the process has it
            with log:
                order = [*JOIN, self.url, *options]
                process = subprocess.Popen(order, stdin=subprocess.PIPE, stdout=log, stderr=log, **APART)
                self.volunteers.append(process)
        return names

    def kill(self, number: int) -> None:
        """End a volunteer as a power cut would: the server learns of it by the deadline."""
        process = self.volunteers[whole(number, "number", 1, max(1, len(self.volunteers))) - 1]
        process.kill()
        process.wait()

    def status(self) -> dict:
        """What the page shows."""
        return self.web.get("/status").json()

    @property
    def work(self):
        """What is done: the task in words, a Work or a FederatedWork."""
        return self.engine.work

    @property
    def accuracy(self) -> float | None:
        """On the test set, of the newest weights that were tried."""
        looks = self.status()["accuracy"]
        return looks[-1][1] if looks else None

    def weights(self) -> np.ndarray:
        """Those that the iteration under way begins with; when it is finished, the last ones."""
        found = self.engine.store.reading(lambda store: store.weights(store.newest()))
        return np.frombuffer(found, "<f4").copy()

    def wait(self, seconds: float = 600.0) -> dict:
        """Until it is finished and the last weights were tried."""
        self.until(self.tried, seconds)
        return self.status()

    def tried(self) -> bool:
        found = self.status()
        looks = found["accuracy"]
        return found["finished"] and bool(looks) and looks[-1][0] == found["iteration"]

    def until(self, true, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                raise TimeoutError(f"it took longer than {seconds:g} s; {self.url} shows how it stands")
            if not self.thread.is_alive():
                raise RuntimeError("the project is closed, or its server has ended")
            threading.Event().wait(0.05)

    def close(self) -> None:
        """End the volunteers, then the server. Twice is once."""
        self.end()

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Project at {self.url}, {'open' if self.end.alive else 'closed'}>"

    def _ipython_display_(self) -> None:
        from dlmini.show.dashboard_volunteers import show

        show(self)


def leave(volunteers: list[subprocess.Popen]) -> None:
    """Ask all of them, then wait for each; who does not go is killed, and all are when somebody interrupts this."""
    try:
        for process in volunteers:
            process.terminate()
        for process in volunteers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
    finally:
        for process in volunteers:
            process.kill()
            process.wait()
            process.stdin.close()


def ended(server, thread: threading.Thread) -> None:
    """Interrupted, it is waited for once more: nobody takes its socket and its file away under it."""
    server.should_exit = True
    if thread.ident is not None:
        try:
            thread.join(20)
        finally:
            thread.join(20)
