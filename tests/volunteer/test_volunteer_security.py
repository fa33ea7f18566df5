"""Everything that a client sends may be hostile: it is refused with a status and a sentence, nothing is stored."""

import json
import socket
import time
from contextlib import suppress
from dataclasses import replace

import httpx
import numpy as np
import pytest
from volunteer_servers import ONCE, SMALL, project, until

from dlmini.volunteer.described import fingerprint
from dlmini.volunteer.guards import Budget


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One server for all attacks: it must live through every one of them."""
    with (
        project(tmp_path_factory.mktemp("hostile"), body=1.0) as (url, engine),
        httpx.Client(base_url=url, trust_env=False, timeout=20) as web,
    ):
        yield web, engine, url


@pytest.fixture
def host(served):
    """A known host with one copy, and the good answer to it."""
    web = served[0]
    token = web.post("/join", json={"name": "honest"}).json()["token"]
    me = {"authorization": f"Bearer {token}"}
    unit = web.post("/ask", headers=me).json()
    path = f"/report/{unit['unit']}/{unit['copy']}"
    data = np.zeros(SMALL.size, "<f4").tobytes()
    yield me, path, data
    web.post(path.replace("report", "error"), headers=me, content=b"over")


def stored(engine):
    tables = ("journal", "hosts", "answers", "weights", "about")
    return [engine.store.db.execute(f"select count(*) from {table}").fetchone() for table in tables]


def refused(served, status, send):
    """It is told why, nothing is stored, and the server lives."""
    web, engine, _ = served
    before = stored(engine)
    reply = send(web)
    assert reply.status_code == status, reply.text
    assert 10 < len(reply.json()["error"]) < 300
    assert stored(engine) == before
    assert web.get("/status").status_code == 200
    return reply.json()["error"]


def test_a_wrong_token_is_refused(served, host):
    _, path, data = host
    for wrong in ("", "Bearer x", "Basic x", "Bearer", "Bearer " + "é" * 9):
        headers = {"authorization": wrong.encode()}
        refused(served, 401, lambda web, h=headers: web.post(path, headers=h, content=data))
        refused(served, 401, lambda web, h=headers: web.post("/ask", headers=h))
        refused(served, 401, lambda web, h=headers: web.get("/weights/0", headers=h))


def test_another_hosts_result_is_refused(served, host):
    web = served[0]
    _, path, data = host
    thief = {"authorization": f"Bearer {web.post('/join', json={'name': 'thief'}).json()['token']}"}
    headers = thief | {"x-checksum": fingerprint(data)}
    assert "not given to you" in refused(served, 409, lambda web: web.post(path, headers=headers, content=data))


@pytest.mark.parametrize("where", ["/report/99999/0", "/report/4611686018427387904/0", "/report/0/77"])
def test_a_unit_that_is_not_there_is_refused(served, host, where):
    me, _, data = host
    status = 404 if "46116" in where else 409
    refused(served, status, lambda web: web.post(where, headers=me | {"x-checksum": fingerprint(data)}, content=data))


def test_bodies_of_the_wrong_size_are_refused(served, host):
    me, path, data = host
    refused(served, 413, lambda web: web.post(path, headers=me, content=data + b"0000"))
    refused(served, 400, lambda web: web.post(path, headers=me | {"x-checksum": fingerprint(b"")}, content=b""))
    short = data[:-4]
    refused(served, 400, lambda web: web.post(path, headers=me | {"x-checksum": fingerprint(short)}, content=short))
    refused(served, 411, lambda web: web.post(path, headers=me, content=iter([data])))


def test_damaged_bytes_are_refused(served, host):
    me, path, data = host
    bent = b"\x01" + data[1:]
    said = refused(
        served, 400, lambda web: web.post(path, headers=me | {"x-checksum": fingerprint(data)}, content=bent)
    )
    assert "checksum" in said


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(served, host, strange):
    me, path, _ = host
    w = np.zeros(SMALL.size, "<f4")
    w[1] = strange
    data = w.tobytes()
    refused(served, 422, lambda web: web.post(path, headers=me | {"x-checksum": fingerprint(data)}, content=data))


NAMES = ["", "a" * 81, "x'; drop table hosts; --", "<script>alert(1)</script>", "../../etc/passwd", "a\nb"]
NAMES += ["\u202eevil", 7, None]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_names_of_sql_html_and_paths_are_refused(served, name):
    refused(served, 400, lambda web: web.post("/join", json={"name": name}))
    if name != "":
        refused(served, 400, lambda web: web.post("/join", json={"name": "good", "kind": name}))


@pytest.mark.parametrize("body", [b"", b"no json", b"[1]", b"[" * 1900, b'{"name": "a"', b"\xff\xfe"])
def test_what_is_no_json_is_refused(served, body):
    refused(served, 400, lambda web: web.post("/join", content=body))


PATHS = ["/../../etc/passwd", "/weights/..%2f..%2fproject.db", "/report/a/b", "/project.db", "/weights/-1"]
PATHS += ["/weights/" + "9" * 5000, "/drift/" + "9" * 5000]  # Python makes no numbers of so many digits


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_paths_lead_nowhere(served, path):
    refused(served, 404, lambda web: web.get(path))


def test_the_wrong_verb_is_refused(served):
    refused(served, 405, lambda web: web.get("/ask"))


def test_changes_need_the_admins_token(served, host):
    me, _, _ = host
    refused(served, 403, lambda web: web.post("/admin/pause", headers=me))
    web, engine, _ = served
    admin = {"authorization": f"Bearer {engine.admin}"}
    refused(served, 404, lambda web: web.post("/admin/erase", headers=admin))
    assert web.post("/admin/pause", headers=admin).json() == {"paused": True}
    assert web.post("/ask", headers=me).status_code == 204
    assert web.post("/admin/resume", headers=admin).json() == {"paused": False}


def connected(url):
    place = httpx.URL(url)
    return socket.create_connection((place.host, place.port), timeout=30)


def heard(sock):
    parts = []
    with suppress(ConnectionError):
        while part := sock.recv(65536):
            parts.append(part)
    return b"".join(parts)


def test_a_million_bytes_of_headers_are_refused(served):
    web, engine, url = served
    before = stored(engine)
    for header in (b"x-long: " + b"a" * 10**6, b"\r\n".join(b"x-%d: a" % k for k in range(100_000))):
        with connected(url) as sock:
            sock.sendall(b"GET /work HTTP/1.1\r\nhost: x\r\n" + header + b"\r\n\r\n")
            reply = heard(sock)
        assert reply.startswith(b"HTTP/1.1 431")
        assert b"headers are too long; 16 KB" in reply
    assert stored(engine) == before
    assert web.get("/work").status_code == 200


def test_who_sends_headers_byte_by_byte_is_shown_the_door(served):
    web, _, url = served
    slow = [connected(url) for _ in range(20)]
    for sock in slow:
        sock.sendall(b"POST /join HTTP/1.1\r\nhost: x\r\n")
    assert web.get("/work").status_code == 200  # others are served meanwhile
    for sock in slow:
        with sock:
            reply = heard(sock)
            assert reply.startswith(b"HTTP/1.1 408")
            assert b"did not come in time" in reply


def test_a_body_that_never_comes_is_not_waited_for(served, host):
    me, path, data = host
    web, engine, url = served
    before = stored(engine)
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n"
    head += f"authorization: {me['authorization']}\r\n\r\n"
    with connected(url) as sock:  # one that promises too much
        sock.sendall(head.replace(str(len(data)), "99999999999").encode())
        assert sock.recv(65536).startswith(b"HTTP/1.1 413")
    with connected(url) as sock:
        sock.sendall(head.encode() + data[:5])
        assert sock.recv(65536).startswith(b"HTTP/1.1 408")
    with connected(url) as sock:  # and one that is cut off
        sock.sendall(head.encode() + data[:5])
    assert web.get("/work").status_code == 200
    assert stored(engine) == before


def test_what_is_no_http_is_refused(served):
    web, _, url = served
    with connected(url) as sock:
        sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        reply = heard(sock)
        assert reply.startswith(b"HTTP/1.1 400")
        assert b"this is no HTTP request" in reply
    assert web.get("/work").status_code == 200


def test_with_a_full_disk_nothing_is_taken_and_later_it_goes_on(tmp_path):
    """The file may not grow by a page: SQLite then says of every write that the disk is full."""
    with project(tmp_path) as (url, engine), httpx.Client(base_url=url, trust_env=False) as web:
        me = {"authorization": f"Bearer {web.post('/join', json={'name': 'one'}).json()['token']}"}
        unit = web.post("/ask", headers=me).json()
        before, data = stored(engine), np.ones(SMALL.size, "<f4").tobytes()
        pages = engine.store.db.execute("pragma page_count").fetchone()[0]
        engine.store.db.execute(f"pragma max_page_count = {pages}")
        replies = []
        for k in range(200):  # what fits into the last pages is taken
            replies.append(web.post("/join", json={"name": f"host {k}", "kind": "x" * 80}))
            if replies[-1].status_code != 200:
                break
        assert replies[-1].status_code == 503
        assert replies[-1].headers["retry-after"] == "2"
        assert "disk is full" in replies[-1].json()["error"]
        assert "nothing was taken" in replies[-1].json()["error"]
        assert stored(engine)[1] == (before[1][0] + len(replies) - 1,)
        assert web.get("/status").json()["hosts"][-1]["name"] != f"host {k}"
        engine.store.db.execute("pragma max_page_count = 1000000")
        place = f"/report/{unit['unit']}/{unit['copy']}"
        assert web.post(place, headers=me | {"x-checksum": fingerprint(data)}, content=data).status_code == 200
        assert engine.it.done == 1


def test_who_asks_too_often_is_told_to_wait(tmp_path):
    with project(tmp_path, rate=0.01, strangers=0.01) as (url, _), httpx.Client(base_url=url, trust_env=False) as web:
        me = {"authorization": f"Bearer {web.post('/join', json={'name': 'eager'}).json()['token']}"}
        replies = [web.post("/ask", headers=me) for _ in range(12)]
        told = [reply for reply in replies if reply.status_code == 429]
        assert told
        assert told[0].headers["retry-after"] == "2"
        guesses = [web.post("/ask", headers={"authorization": f"Bearer {k}"}).status_code for k in range(60)]
        assert guesses[0] == 401
        assert guesses[-1] == 429


def test_the_page_fetches_nothing_from_elsewhere_and_escapes_everything(served):
    web = served[0]
    page = web.get("/").text
    assert "innerHTML" not in page
    assert "textContent" in page
    assert "http://" not in page
    assert "https://" not in page
    until(lambda: web.get("/status").json()["accuracy"])
    json.dumps(web.get("/status").json())


def test_a_clock_that_is_set_neither_empties_budgets_nor_stops_deadlines(tmp_path, monkeypatch):
    """Back by a day, then a server that begins anew with such a clock: a host that vanished is still missed."""
    terms = replace(ONCE, delay=1.5)
    with project(tmp_path, terms=terms) as (url, engine), httpx.Client(base_url=url, trust_env=False) as web:
        me = {"authorization": f"Bearer {web.post('/join', json={'name': 'one'}).json()['token']}"}
        first = time.time()
        monkeypatch.setattr(time, "time", lambda: first - 86400)
        assert web.post("/ask", headers=me).status_code == 200
        until(lambda: engine.it.counts["no reply"] == 1)
        assert web.post("/ask", headers=me).status_code == 200
    with project(tmp_path, SMALL, terms) as (url, engine):
        until(lambda: engine.it.counts["no reply"] == 2)


@pytest.mark.parametrize("put_back", [False, True])
def test_where_the_file_was_deleted_nothing_is_taken(tmp_path, put_back):
    with project(tmp_path) as (url, engine), httpx.Client(base_url=url, trust_env=False) as web:
        me = {"authorization": f"Bearer {web.post('/join', json={'name': 'one'}).json()['token']}"}
        unit, data = web.post("/ask", headers=me).json(), np.ones(SMALL.size, "<f4").tobytes()
        engine.store.file.rename(tmp_path / "away")
        report = f"/report/{unit['unit']}/{unit['copy']}", data, me | {"x-checksum": fingerprint(data)}
        for path, body, headers in (report, ("/ask", b"", me), ("/join", b'{"name": "two"}', {})):
            reply = web.post(path, content=body, headers=headers)
            assert reply.status_code == 503
            assert "was deleted or replaced" in reply.json()["error"]
        if put_back:
            (tmp_path / "away").rename(engine.store.file)
            path, body, headers = report
            assert web.post(path, content=body, headers=headers).status_code == 200
            assert engine.it.done == 1


def test_a_budget_fills_again_and_forgets_whom_it_must():
    it = Budget(rate=2.0, most=3.0, keys=2)
    assert [it.spend("a", 0.0) for _ in range(4)] == [True, True, True, False]
    assert [it.spend("a", 1.0) for _ in range(3)] == [True, True, False]
    assert it.spend("b", 1.0)
    assert it.spend("c", 1.0)
    assert set(it.left) == {"b", "c"}
    assert it.spend("c", -1000.0)  # a clock that was set back takes nothing away
