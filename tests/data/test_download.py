"""Downloads from a server of our own, which can be told to misbehave."""

import hashlib
import http.server
import socket
import threading

import numpy as np
import pytest

from dlmini.data import download, fetch
from dlmini.data.sources import SOURCES, Source

CONTENT = np.random.default_rng(0).bytes(700_000)
FILE = "toy.bin"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        start = self.headers.get("Range")
        server.asked.append(start)
        first = int(start.removeprefix("bytes=").removesuffix("-")) if start and server.ranges else 0
        status = server.status or (206 if first else 200)
        if first and first >= len(server.content):
            status = 416
        body = server.content[first:] if status in (200, 206) else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.cuts.pop(0)] if server.cuts else body)

    def log_message(self, *_):
        """Keep the test output clean."""


@pytest.fixture
def server(monkeypatch):
    """Knows one file. `cuts`: after how many bytes to hang up, one number for each of the next requests."""
    monkeypatch.setenv("no_proxy", "*")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.content, server.cuts, server.asked, server.ranges, server.status = CONTENT, [], [], True, None
        url = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setitem(SOURCES, "toy", Source(url, 1, {FILE: hashlib.md5(CONTENT).hexdigest()}))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def names(folder):
    return sorted(file.name for file in (folder / "toy").iterdir())


def test_a_file_arrives_whole_under_its_name(server, tmp_path):
    home = fetch("toy", folder=tmp_path)
    assert home == tmp_path / "toy"
    assert names(tmp_path) == [FILE]
    assert (home / FILE).read_bytes() == CONTENT


def test_a_set_that_is_there_is_not_asked_for_again(server, tmp_path):
    fetch("toy", folder=tmp_path)
    fetch("toy", folder=tmp_path)
    assert server.asked == [None]


def test_a_damaged_file_that_is_there_is_replaced(server, tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / FILE).write_bytes(b"damaged")
    assert (fetch("toy", folder=tmp_path) / FILE).read_bytes() == CONTENT


def test_a_mirror_may_be_named(server, tmp_path, monkeypatch):
    mirror = SOURCES["toy"].url.rstrip("/")
    monkeypatch.setitem(SOURCES, "toy", Source("http://nowhere.invalid/", 1, SOURCES["toy"].files))
    assert (fetch("toy", folder=tmp_path, base_url=mirror) / FILE).read_bytes() == CONTENT


def test_a_broken_connection_is_taken_up_where_it_broke(server, tmp_path):
    server.cuts = [300_000, 100_000]
    assert (fetch("toy", folder=tmp_path) / FILE).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=300000-", "bytes=400000-"]


def test_what_arrived_is_kept_for_the_next_time(server, tmp_path):
    server.cuts = [300_000, 0]
    with pytest.raises(ConnectionError, match=r"toy\.bin could not be downloaded.*run the command again.*md5"):
        fetch("toy", folder=tmp_path)
    assert names(tmp_path) == [FILE + ".part"]
    assert (tmp_path / "toy" / (FILE + ".part")).read_bytes() == CONTENT[:300_000]
    assert (fetch("toy", folder=tmp_path) / FILE).read_bytes() == CONTENT
    assert server.asked[-1] == "bytes=300000-"
    assert names(tmp_path) == [FILE]


def test_a_server_that_cannot_resume_sends_everything_again(server, tmp_path):
    server.ranges, server.cuts, seen = False, [300_000], []
    home = fetch("toy", folder=tmp_path, progress=lambda *news: seen.append(news))
    assert (home / FILE).read_bytes() == CONTENT
    assert max(seen) == (FILE, len(CONTENT), len(CONTENT))


def test_a_part_that_was_complete_needs_only_its_checksum(server, tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / (FILE + ".part")).write_bytes(CONTENT)
    assert (fetch("toy", folder=tmp_path) / FILE).read_bytes() == CONTENT
    assert names(tmp_path) == [FILE]


@pytest.mark.parametrize("begun", [b"", b"the beginning of another file"])
def test_a_wrong_checksum_leaves_nothing_behind(server, tmp_path, begun):
    server.content = CONTENT[:-1] + b"?"
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / (FILE + ".part")).write_bytes(begun)
    expected = hashlib.md5(CONTENT).hexdigest()
    with pytest.raises(ValueError, match=rf"toy\.bin.*expected md5 {expected}, found .* It was deleted"):
        fetch("toy", folder=tmp_path)
    assert names(tmp_path) == []


def test_a_refusal_of_the_server_is_told(server, tmp_path):
    server.status = 404
    with pytest.raises(ConnectionError, match="HTTP Error 404"):
        fetch("toy", folder=tmp_path)
    assert names(tmp_path) == []


def test_offline_the_error_says_which_file_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as nobody:  # bound but not listening: a port at which surely nobody answers
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(ConnectionError) as caught:
            fetch("cifar10", folder=tmp_path, base_url=url)
    sentence = str(caught.value)
    for expected in ("cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a", str(tmp_path / "cifar10")):
        assert expected in sentence


def test_a_full_disk_is_not_blamed_on_the_network(server, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download, "open", full, raising=False)
    with pytest.raises(OSError, match="No space left") as caught:
        fetch("toy", folder=tmp_path)
    assert not isinstance(caught.value, ConnectionError)


def test_progress_grows_from_what_was_there_to_the_whole(server, tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / (FILE + ".part")).write_bytes(CONTENT[:200_000])
    seen = []
    fetch("toy", folder=tmp_path, progress=lambda *news: seen.append(news))
    done = [news[1] for news in seen]
    assert {(news[0], news[2]) for news in seen} == {(FILE, len(CONTENT))}
    assert done == sorted(done)
    assert done[0] > 200_000
    assert done[-1] == len(CONTENT)


def test_the_command_fetches_into_the_cache_and_shows_the_file(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DLMINI_CACHE", str(tmp_path))
    home = download.command("toy")
    assert (home, names(tmp_path / "data")) == (tmp_path / "data" / "toy", [FILE])
    assert FILE in capsys.readouterr().out


def test_an_unknown_name_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no dataset called 'cifar11'.*did you mean 'cifar1"):
        fetch("cifar11", folder=tmp_path)
