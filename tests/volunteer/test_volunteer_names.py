"""Addresses as people type them, names of machines, and what a server that is none may say: it works, or a sentence."""

import http.server
import json
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from volunteer_servers import SMALL, project

from dlmini import cli
from dlmini.commands import volunteer as command
from dlmini.terminal import console
from dlmini.volunteer.client import Client
from dlmini.volunteer.names import NAME, address_of, name_of
from dlmini.volunteer.project import Project

TYPED = {
    "http://lab:8642": "http://lab:8642",
    " http://lab:8642/ \n": "http://lab:8642",
    "<http://lab:8642//>": "http://lab:8642",
    "'http://lab:8642/status'": "http://lab:8642",
    "http://lab:8642/?x=1#top": "http://lab:8642",
    "HTTP://LAB:8642": "http://lab:8642",
    "lab:8643": "http://lab:8643",
    "lab": "http://lab:8642",
    "10.0.0.7/": "http://10.0.0.7:8642",
    "::1": "http://[::1]:8642",
    "[fe80::1]:99": "http://[fe80::1]:99",
    "https://lab/course": "https://lab/course",
    "https://lab/course/status": "https://lab/course",
}
NONE = ["", " ", "http://", "http:/lab:8642", "ftp://lab", "http://lab:99999", "http://lab:abc", "http://lab:0", "lab:"]
NONE += [
    "http://la b:1",
    "http://lab :1",
    "join http://lab:1",
    "http://me:word@lab:1",
    "http://\u202elab:1",
    "x" * 3000,
]
NONE += ["http://lab\x1b[2J:1", None, 7, "http://[::1:1", "http://la\\b:1"]


@pytest.mark.parametrize("typed", TYPED)
def test_an_address_is_understood_as_people_type_it(typed):
    assert address_of(typed) == TYPED[typed]


@pytest.mark.parametrize("typed", NONE, ids=range(len(NONE)))
def test_what_is_no_address_is_refused_by_a_sentence(typed, tmp_path):
    for use in (address_of, lambda url: Client(url, "me", tmp_path)):
        with pytest.raises(ValueError, match="what the server shows: http://HOST:PORT") as told:
            use(typed)
        assert str(told.value).isprintable()
        assert len(str(told.value)) < 200


def test_a_server_at_an_ipv6_address_shows_one_that_can_be_typed(capsys):
    work = SimpleNamespace(model="mlp", data="blobs", told=str, versions=3)
    command.welcome(SimpleNamespace(work=work, iteration=0, admin="x"), "::1", 8642, False)
    assert "join http://[::1]:8642\n" in capsys.readouterr().out


NAMES = {
    "-x": "x",
    ".hidden": "hidden",
    "(a) b": "a) b",
    "\u202eevil\x1b[2J": "evil2J",
    "---": "",
    " é": "é",
    "---x": "x",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_machine_gets_a_name_that_every_server_takes(name):
    assert name_of(name) == NAMES[name]
    assert not name_of(name) or NAME.fullmatch(name_of(name))
    assert NAME.fullmatch(name_of(name + "a" * 100))


def test_volunteers_whom_no_server_would_take_are_refused_before_they_begin(tmp_path):
    with pytest.raises(ValueError, match="begins with a letter"):
        Client("lab", "-x", tmp_path)
    with Project(SMALL, folder=tmp_path / "p") as mine:
        for name in ("../away", "<b>", "a" * 80):
            with pytest.raises(ValueError, match="begins with a letter"):
                mine.join(name=name)
        assert not mine.volunteers


@contextmanager
def saying(status, body):
    """A server that answers everything so."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def said(words, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["dlmini", *words])
    monkeypatch.setattr(console, "_width", 500)
    try:
        cli.main()
    except SystemExit as left:
        return left.code, capsys.readouterr().out
    return 0, capsys.readouterr().out


STRANGE = [b"[]", b"{}", b"null", b"7", b'"x"', b"<html>", b"[" * 5000, b'{"iteration": 1}', b"\xff"]


@pytest.mark.parametrize("body", STRANGE, ids=range(len(STRANGE)))
def test_the_status_of_what_is_no_project_is_a_sentence(body, monkeypatch, capsys):
    with saying(200, body) as url:
        code, text = said(("volunteer", "status", url), monkeypatch, capsys)
        plain = said(("volunteer", "status", url, "--json"), monkeypatch, capsys)
    assert code == 1
    assert f"error: http://{url} answers, but not as a project does" in text
    assert plain == (code, text)


HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202egone\u2066 [red]"


def test_nothing_that_a_server_says_is_obeyed_by_the_terminal(tmp_path, monkeypatch, capsys):
    with project(tmp_path) as (_, engine):
        found = engine.status(0.0) | {"work": {"model": HOSTILE, "data": HOSTILE}, "copies": {HOSTILE: 1}}
    with saying(200, json.dumps(found).encode()) as url:
        code, text = said(("volunteer", "status", url), monkeypatch, capsys)
    assert code == 0
    with saying(503, json.dumps({"error": HOSTILE}).encode()) as url:
        code, refused = said(("volunteer", "status", url), monkeypatch, capsys)
        client = Client(url, "me", tmp_path / "c", say=command.say)
        monkeypatch.setattr(client.ended, "wait", lambda seconds: False)
        client.attempt(client.introduce)
    assert code == 1
    for shown in (text, refused, capsys.readouterr().out):
        assert "?[2J?]0;owned?" in shown
        assert "[red]" in shown
        assert all(c.isprintable() or c == "\n" for c in shown)


def test_a_paused_project_says_so(tmp_path, monkeypatch, capsys):
    with project(tmp_path) as (url, engine):
        engine.pause(True)
        assert ": paused, accuracy" in said(("volunteer", "status", url), monkeypatch, capsys)[1]
