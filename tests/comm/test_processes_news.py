"""Events on their way from workers to their parent: soon, all of them, in order, and not one by one."""

import queue
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from dlmini.comm.errors import CommError
from dlmini.comm.launch import launch
from dlmini.comm.processes import Processes
from dlmini.comm.processes.workers import event_sender as news
from dlmini.events import Round, Snapshot


def heard(parcels):
    """A parent that hears parcels one by one, as they come."""
    return parcels.get(timeout=10)


def test_an_event_after_a_quiet_moment_goes_at_once(monkeypatch):
    monkeypatch.setattr(news, "PAUSE", 1000.0)
    sent = queue.Queue()
    some = news.EventSender(sent.put)
    some.tell(b"a")
    assert heard(sent) == [b"a"]
    some.end()


def test_events_in_quick_succession_go_together_and_in_order(monkeypatch):
    monkeypatch.setattr(news, "PAUSE", 1000.0)
    sent = queue.Queue()
    some = news.EventSender(sent.put)
    some.tell(b"a")
    assert heard(sent) == [b"a"]
    some.tell(b"b")
    some.tell(b"c")
    assert sent.empty()
    some.end()
    assert heard(sent) == [b"b", b"c"]
    some.helper.join(120)
    assert not some.helper.is_alive()


def test_telling_does_not_wait_for_a_parent_that_does_not_listen():
    listening, sent = threading.Event(), []
    some = news.EventSender(lambda parcel: (listening.wait(60), sent.extend(parcel)))
    for i in range(100):
        some.tell(bytes([i]) * 10_000)  # if one of these waited, nobody would ever set the event
    assert sent == []
    listening.set()
    some.end()
    assert sent == [bytes([i]) * 10_000 for i in range(100)]


def test_what_waits_to_be_sent_is_bounded(monkeypatch):
    monkeypatch.setattr(news, "ROOM", 1000)
    most, sent = [0], []
    some = news.EventSender(sent.extend)
    for i in range(300):
        some.tell(bytes([i % 256]) * 100)
        most.append(some.nbytes)
    some.end()
    assert max(most) <= 1100
    assert sent == [bytes([i % 256]) * 100 for i in range(300)]


def test_an_event_that_nothing_follows_is_heard_while_its_rank_goes_on():
    on = Processes(2)

    def program(comm):
        comm.emit(Round(0, 0.0))
        comm.emit(Round(1, 0.0))
        while True:
            comm.poll(1 - comm.rank)

    with pytest.raises(CommError, match="cancelled"):
        launch(program, on, listen=lambda event: on.cancel() if event.t == 1 else None)


def test_ranks_go_on_while_the_listener_works():
    """They emit far more than a pipe holds, and finish; only then does the listener let go of the first event."""
    on, done = Processes(2), []

    def program(comm, folder):
        for t in range(20):
            comm.emit(Snapshot(t, np.zeros(50_000)))
        (Path(folder) / str(comm.rank)).touch()

    def listen(event):
        while not done and len(list(folder.iterdir())) < 2:
            pass
        done.append(event)

    with TemporaryDirectory() as name:
        folder = Path(name)
        launch(program, on, (name,), listen)
    assert len(done) == 40


def test_a_burst_of_events_comes_whole_and_in_order():
    events = launch(lambda comm: [comm.emit(Round(t, 0.0)) for t in range(500)] and None, Processes(2)).events
    assert [[e.t for e in events if e.rank == rank] for rank in (0, 1)] == [list(range(500))] * 2


def test_what_is_printed_keeps_its_place_among_events(capsys):
    def program(comm):
        for t in range(3):
            comm.emit(Round(t, 0.0))
        print("a word")
        comm.emit(Round(3, 0.0))

    launch(program, Processes(1), listen=lambda event: print(event.t))
    assert capsys.readouterr().out == "0\n1\n2\na word\n3\n"
