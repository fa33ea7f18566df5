"""What goes wrong in a room, a sentence each: keys, names, versions, ports, networks, and notebooks that die."""

import errno
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import psutil
import pytest
from classrooms import ThreadPc, another, classroom, join

from dlmini.comm import RankFailed, launch
from dlmini.comm.classroom import Classroom
from dlmini.comm.classroom import member as members
from dlmini.comm.classroom.greeting import checked_name, heard, hello, mismatch, own_name, said
from dlmini.comm.classroom.key import kept_key, new_key, read_key
from dlmini.comm.classroom.member import Refused, address_of, split_address, unreachable


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    with classroom(2, tmp_path_factory.mktemp("room")) as (found, _):
        launch(lambda comm: comm.rank, found)  # both have come
        yield found


# ---- keys ----


def test_a_key_is_one_short_word_and_says_if_it_was_not_copied_whole():
    key = new_key().text
    assert len(key) < 80
    assert key.isascii()
    assert key.replace("-", "").replace("_", "").isalnum()
    assert not key.startswith("-")  # it is an argument of a command
    assert read_key(f" {key[:30]}\n{key[30:]} ") == read_key(key)  # a terminal may have broken the line
    for wrong in (key[:-1], key + "A", "", "password", key[1:], key.swapcase()):
        with pytest.raises(ValueError, match="copy"):
            read_key(wrong)
    other = "A" if key[10] != "A" else "B"
    with pytest.raises(ValueError, match="a letter of this key is wrong"):
        read_key(key[:10] + other + key[11:])


def test_a_room_keeps_its_key_in_a_private_file_and_renews_it_when_asked(tmp_path):
    file = tmp_path / "deep" / "room.key"
    key = kept_key(file)
    assert kept_key(file) == key
    assert os.name != "posix" or file.stat().st_mode & 0o077 == 0
    assert list(file.parent.iterdir()) == [file]
    assert kept_key(file, renew=True) != key
    file.write_text("not a key")
    with pytest.raises(ValueError, match="is no key of a room; delete it"):
        kept_key(file)


@pytest.mark.parametrize("what", ["secret", "notebook"])
def test_a_wrong_key_is_told_on_both_sides(room, what):
    """Another room's secret with this room's public key; and another notebook's key altogether."""
    right, other = read_key(room.key), read_key(new_key().text)
    wrong = other if what == "notebook" else right._replace(members=other.members)
    stranger = members.Member(*split_address(room.where), wrong, "mallory", 0, lambda text: None)
    with pytest.raises(Refused, match="does not know this key: copy it again"):
        stranger.stay()
    assert "mallory" not in [row.name for row in room.who()]
    assert what == "notebook" or "a wrong key came from 127.0.0.1" in repr(room.who())


# ---- names and versions ----


def test_two_pcs_of_one_name_are_told_apart(room):
    twin = ThreadPc(room.where, room.key, "pc-0")
    twin.join(30)
    assert isinstance(twin.error, Refused)
    assert "a PC called pc-0 is in the room already" in str(twin.error)
    assert "--name pc-0-2" in str(twin.error)
    assert sorted(row.name for row in room.who())[:2] == ["pc-0", "pc-1"]
    assert "refused: a PC called pc-0" in repr(room.who())


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ({"dlmini": "0.0.1"}, "has dlmini 0.0.1, the room .*: install the same version on both"),
        ({"protocol": 0}, "install the same version"),
        ({"python": "3.9"}, r"runs Python 3\.9, the room 3\.\d+: programs travel as Python's own code"),
        ({"numpy": "1.26.4"}, r'has NumPy 1\.26\.4, .*pip install "numpy=='),
    ],
)
def test_an_old_version_is_refused_by_a_sentence_that_says_what_to_install(room, old, words):
    pc = ThreadPc(room.where, room.key, "old-one", **old)
    pc.join(30)
    assert isinstance(pc.error, Refused)
    with pytest.raises(Refused, match=words):
        raise pc.error


def test_other_sources_of_the_same_version_are_a_remark_in_the_list(tmp_path):
    with classroom(1, tmp_path, pcs=0) as (room, pcs):
        pcs.append(ThreadPc(room.where, room.key, "edited", source="0000"))
        wait_for(lambda: len(room.who()))
        assert [row.note for row in room.who()] == ["its dlmini has the same number, but other sources"]


def wait_for(ready, seconds=30):
    end = time.monotonic() + seconds
    while not ready() and time.monotonic() < end:
        time.sleep(0.01)


def test_a_greeting_survives_its_journey_and_nonsense_is_none():
    mine = hello("pc", "1")
    assert heard(said(mine)) == mine
    assert mismatch(mine, mine) == ""
    for nonsense in (b"", b"x" * 100, said(mine)[:-3], said(mine._replace(cores="many"))):
        with pytest.raises(ValueError, match="no greeting"):
            heard(nonsense)


def test_names_are_words(room):
    assert checked_name(own_name()) == own_name()
    for bad in ("", "-x", "a" * 41, "a\nb", "<b>", "../x"):
        with pytest.raises(ValueError, match="a PC's name has"):
            checked_name(bad)


# ---- ports and networks ----


def test_a_port_in_use_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=rf"port {port} is in use: another notebook may have its room there"):
            Classroom(2, port, address="127.0.0.1", key_file=tmp_path / "key").open()


def test_a_room_that_is_open_cannot_change_its_patience(room):
    port = int(room.where.rpartition(":")[2])
    with pytest.raises(ValueError, match=r"is open with patience=1.0; close\(\) it first"):
        Classroom(2, port, address="127.0.0.1", patience=2.0).who()


def test_where_nobody_listens_or_nothing_leads_there_is_a_sentence(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    assert f"Nobody listens at 127.0.0.1:{port} yet" in unreachable("127.0.0.1", port)
    for error, words in (
        (OSError(errno.EHOSTUNREACH, "No route to host"), "There is no way to pc:1 (No route to host)"),
        (TimeoutError(), "does not answer: is a firewall there"),
    ):
        monkeypatch.setattr(members.socket, "create_connection", lambda *_, e=error: (_ for _ in ()).throw(e))
        assert words in unreachable("pc", 1)
    for text in ("pc", "pc:", ":5", "pc:99999", "pc:five"):
        with pytest.raises(ValueError, match="is no HOST:PORT"):
            split_address(text)
    with pytest.raises(ValueError, match=r"there is no PC called 'no\.such\.pc\.invalid'"):
        address_of("no.such.pc.invalid")


def test_a_pc_that_cannot_be_called_by_the_others_is_named_with_its_firewall(room, monkeypatch):
    """The notebook tells a wrong port of rank 1: so nobody reaches it."""
    from dlmini.comm.classroom import job as jobs

    plain = jobs.packed

    def misled(value):
        if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], list):
            value[0][1] = (*value[0][1][:2], 9, value[0][1][3])
        return plain(value)

    monkeypatch.setattr(jobs, "packed", misled)
    with pytest.raises(ConnectionError, match=r"has not met pc-. \(rank .\) at .*: is a firewall between them"):
        launch(lambda comm: comm.rank, another(room))


def test_a_run_that_waits_in_vain_says_who_is_there(room):
    with pytest.raises(RankFailed, match=r"after 0\.1 s waiting for 7 of 9 PCs; here: .*pc-0 \(ready\)"):
        launch(print, Classroom(9, int(room.where.rpartition(":")[2]), address="127.0.0.1", wait=0.1))


# ---- the command ----


def test_the_command_says_what_is_wrong_and_ends(room):
    def tried(*words):
        line = [sys.executable, "-m", "dlmini", "join", *words]
        done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8", timeout=60)
        assert done.returncode == 1
        return " ".join(done.stdout.split())

    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    assert "is no HOST:PORT" in tried("here", "--key", room.key)
    assert "copy all of it" in tried(room.where, "--key", "abc")
    assert "does not know this key" in tried(room.where, "--key", new_key().text)
    assert "Nobody listens" in tried(f"127.0.0.1:{port}", "--key", room.key, "--wait", "0.1")


NOTEBOOK = """
    import sys, time
    from dlmini import Classroom, launch
    room = Classroom(2, int(sys.argv[1]), address="127.0.0.1", key_file=sys.argv[2]).open()
    print(room.where, room.key, flush=True)
    def program(comm):
        comm.recv(1 - comm.rank) if sys.argv[3] == "hang" else None
        return comm.rank
    if sys.argv[3] == "hang":
        import threading
        threading.Thread(target=launch, args=(lambda comm: time.sleep(600), room), daemon=True).start()
        while not [row for row in room.who() if row.now == "works"]:
            time.sleep(0.01)
        print("hangs", flush=True)
        time.sleep(600)
    print(launch(lambda comm: comm.rank, room).values, flush=True)
"""


def test_a_notebook_that_dies_frees_its_pcs_and_the_next_one_has_them_again(tmp_path):
    def notebook(port, what):
        words = [sys.executable, "-c", textwrap.dedent(NOTEBOOK), str(port), str(tmp_path / "key"), what]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    def until(found, stream):
        return next(line for line in stream if line.startswith(found))

    first = notebook(0, "hang")
    where, key = until("127.0.0.1", first.stdout).split()
    pcs = [ThreadPc(where, key, f"pc-{i}") for i in range(2)]
    until("hangs", first.stdout)
    first.send_signal(signal.SIGKILL)
    first.wait()
    wait_for(lambda: all(any("notebook is gone; waiting" in text for text in pc.said) for pc in pcs))
    second = notebook(where.rpartition(":")[2], "run")
    assert until("[", second.stdout) == "[0, 1]\n"
    second.wait(30)
    third = Classroom(2, int(where.rpartition(":")[2]), address="127.0.0.1", key_file=tmp_path / "key")
    assert launch(lambda comm: comm.size, third) == [2, 2]
    third.close()
    for pc in pcs:
        pc.join(20)
        assert not pc.is_alive()
        assert pc.said[-1] == "The room is closed. Good-bye."


def test_ctrl_c_on_a_pc_leaves_no_process_behind(room):
    pc = join(room, "leaver")
    wait_for(lambda: any(row.name == "leaver" and row.now == "ready" for row in room.who()))
    children = psutil.Process(pc.pid).children(recursive=True)
    pc.send_signal(signal.SIGINT)
    assert "Left the room." in pc.communicate(timeout=30)[0]
    assert pc.returncode == 0
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    assert "leaver" not in [row.name for row in room.who()]


def test_the_list_of_who_has_come_is_text_and_html(room):
    roll = room.who()
    assert "pc-0" in repr(roll)
    assert "<td>pc-0</td>" in roll._repr_html_()
    assert "dlmini join 127.0.0.1:" in room.invitation()
