"""A project on a free port of this machine, in a thread of the test; and small work for it."""

import threading
import time
from contextlib import contextmanager

import httpx

from dlmini.volunteer.engine import Engine
from dlmini.volunteer.guards import Patient
from dlmini.volunteer.server import Server, http, listening
from dlmini.volunteer.unit import Terms
from dlmini.volunteer.work import Work

SMALL = Work("softmax_regression", "blobs", units=6, iterations=3, steps=4, batch=8, optimizer="adam", rate=0.05)
ONCE = Terms(quorum=1, target=1, max_error=50, max_total=99, max_success=1, delay=30.0)


class Hasty(Patient):
    patience = 0.3


@contextmanager
def project(folder, work=SMALL, terms=ONCE, tls=(), verify=True, **options):
    """(url, engine) of a server that lives as long as the block."""
    engine = Engine(folder, work, terms)
    sock = listening("127.0.0.1", 0)
    server = http(Server(engine, **options), tls, protocol=Hasty)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        url = f"http{'s' if tls else ''}://127.0.0.1:{sock.getsockname()[1]}"
        until(lambda: httpx.get(url + "/work", trust_env=False, verify=verify).status_code == 200)
        yield url, engine
    finally:
        server.should_exit = True
        thread.join(20)
        sock.close()
        engine.store.close()
        assert not thread.is_alive()


def until(true, seconds=60.0):
    """Wait for something that will be."""
    end = time.monotonic() + seconds
    while True:
        try:
            if true():
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < end, "it never came"
        threading.Event().wait(0.02)
