"""Events on their way from workers to their parent: soon, all of them, in order, and not one by one."""

import pytest

from dlmini.comm.errors import CommError
from dlmini.comm.launch import launch
from dlmini.comm.processes import Processes, news
from dlmini.events import Round


def test_an_event_after_a_quiet_moment_goes_at_once():
    sent = []
    news.News(sent.append).tell(b"a")
    assert sent == [[b"a"]]


def test_events_in_quick_succession_go_together_and_in_order(monkeypatch):
    monkeypatch.setattr(news, "PAUSE", 1000.0)
    sent = []
    some = news.News(sent.append)
    for event in (b"a", b"b", b"c"):
        some.tell(event)
    assert sent == [[b"a"]]
    some.end()
    assert sent == [[b"a"], [b"b", b"c"]]
    some.helper.join(120)
    assert not some.helper.is_alive()


def test_an_event_that_nothing_follows_is_heard_while_its_rank_goes_on():
    on = Processes(2)

    def program(comm):
        comm.emit(Round(0, 0.0))
        comm.emit(Round(1, 0.0))
        while True:
            comm.poll(1 - comm.rank)

    with pytest.raises(CommError, match="cancelled"):
        launch(program, on, listen=lambda event: on.cancel() if event.t == 1 else None)


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
