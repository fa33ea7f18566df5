"""`dlmini lab` opens the course on this machine only, behind a token, and Ctrl-C leaves nothing of it."""

import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from dlmini.commands import lab
from dlmini.course import jupyter

START = runpy.run_path(str(Path(__file__).parents[1] / "start.py"))
pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: there is no lab to open")
posix = pytest.mark.skipif(os.name != "posix", reason="Ctrl-C cannot be sent to one process alone on Windows")


@contextmanager
def running(folder, *words, **env):
    """The command in a folder; yields it when it has printed its address, with that address."""
    command = [sys.executable, "-m", "dlmini", "lab", *words]
    env = {
        **os.environ,
        "TMPDIR": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "JUPYTER_TOKEN": "",
        "COLUMNS": "200",
        **env,
    }
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"(http://\S+?/)lab/tree/\S+\?token=(\w+)", line):
                yield process, found[0], found[1], found[2]
                break
        else:
            pytest.fail(said)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


def asked(url: str, **post):
    data = json.dumps(post).encode() if post else None
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=120) as answer:
        return json.load(answer)


@posix
def test_the_lab_shows_the_index_and_ends_with_ctrl_c(tmp_path):
    with running(tmp_path, DISPLAY="", WAYLAND_DISPLAY="") as (process, address, url, token):
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=120) as page:
            assert b"jupyter-config-data" in page.read()
        names = [item["name"] for item in asked(f"{url}api/contents/notebooks?token={token}")["content"]]
        assert "index.ipynb" in names
        kernels = asked(f"{url}api/kernelspecs?token={token}")
        assert kernels["kernelspecs"][kernels["default"]]["spec"]["argv"][0] == sys.executable
        assert asked(f"{url}api/kernels?token={token}", name="python3")["name"] == "python3"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{url}api/contents", timeout=120)
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 2
        assert not [member.cmdline() for member in family if token in " ".join(member.cmdline())]
        assert listening(family) == {"127.0.0.1"}
        process.send_signal(signal.SIGINT)
        assert "The lab is closed." in process.stdout.read()
        assert process.wait(120) == 0
        assert psutil.wait_procs(family, timeout=120)[1] == []
        assert list(tmp_path.glob("dlmini-jupyter-*")) == []


def listening(family) -> set[str]:
    """Every address at which one of these processes takes connections."""
    found = (connection for member in family for connection in member.net_connections("tcp"))
    return {connection.laddr.ip for connection in found if connection.status == psutil.CONN_LISTEN}


def test_a_lab_that_is_shut_down_in_its_menu_ends_in_good_order(tmp_path):
    with running(tmp_path) as (process, _, url, token):
        request = urllib.request.Request(f"{url}api/shutdown?token={token}", b"", method="POST")
        urllib.request.urlopen(request, timeout=120).close()
        assert "The lab is closed." in process.stdout.read()
        assert process.wait(120) == 0


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [sys.executable, "-m", "dlmini", "lab", "--port", str(taken.getsockname()[1])]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "cannot be used (Address already in use)" in " ".join(done.stdout.split())
    assert "Fatal" not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@posix
def test_a_lab_whose_parent_is_killed_ends_by_itself(tmp_path):
    with running(tmp_path) as (process, _, url, token):
        asked(f"{url}api/kernels?token={token}", name="python3")
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        assert psutil.wait_procs(family, timeout=120)[1] == []
        assert list(tmp_path.glob("dlmini-jupyter-*")) == []


def test_a_lab_without_a_token_is_refused(tmp_path):
    command = [sys.executable, "-m", "dlmini", "lab", "--no-token"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "could run code as you" in done.stdout.replace("\n", " ")
    assert "Traceback" not in done.stdout + done.stderr


def test_a_server_whose_token_was_turned_off_is_not_used():
    with pytest.raises(PermissionError, match="turns Jupyter's token off"):
        jupyter.trusted(jupyter.Lab(None, "http://127.0.0.1:1/", "", Path()))


def test_a_server_that_cannot_start_leaves_its_last_words(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit('no such port')"], stdin=subprocess.PIPE)
    (tmp_path / "log").write_text("no such port")
    with pytest.raises(OSError, match=r"(?s)did not start.*no such port"):
        jupyter.answering(process, tmp_path)
    jupyter.ended(process)


def test_settings_are_private_and_quiet(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_TOKEN", "")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", "/somewhere/else")
    monkeypatch.setattr(jupyter.platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path / "own"))
    home = jupyter.settings_folder(tmp_path / "run")
    env = jupyter.environment(home, tmp_path / "run")
    assert "JUPYTER_TOKEN" not in env
    assert all(env[name].startswith(str(tmp_path)) for name in env if name.startswith("JUPYTER"))
    assert json.loads((home / "settings" / jupyter.NOTIFICATIONS).read_text()) == jupyter.QUIET


def test_where_the_user_s_folder_cannot_be_written_a_temporary_one_serves(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(jupyter.platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path / "file"))
    assert jupyter.settings_folder(tmp_path / "run") == tmp_path / "run"


@pytest.mark.parametrize(
    ("env", "screen"),
    [
        ({}, False),
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "w"}, True),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "x"}, False),
    ],
)
def test_a_browser_is_opened_only_where_somebody_sees_it(monkeypatch, env, screen):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert lab.has_screen() is screen


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ([], ["-m", "dlmini", "lab"]),
        (["test", "-k", "conv"], ["-m", "pytest", "-k", "conv"]),
        (["train", "--workers", "2"], ["-m", "dlmini", "train", "--workers", "2"]),
        (["--no-browser"], ["-m", "dlmini", "lab", "--no-browser"]),
        (["--port", "8888"], ["-m", "dlmini", "lab", "--port", "8888"]),
        (["--help"], ["-m", "dlmini", "--help"]),
        (["--version"], ["-m", "dlmini", "--version"]),
    ],
)
def test_start_py_knows_its_words(words, command):
    assert START["command"](words) == command


@pytest.mark.parametrize(
    ("words", "extra"),
    [([], "[lab]"), (["doctor"], "[lab]"), (["test", "-x"], "[test]"), (["course", "book"], "[book]")],
)
def test_start_py_installs_what_its_words_need(words, extra, monkeypatch):
    asked = []
    monkeypatch.setitem(START["main"].__globals__, "install", asked.append)
    monkeypatch.setitem(START["main"].__globals__, "run", lambda words: 0)
    assert START["main"](words) == 0
    assert asked == [extra]


def test_check_finds_the_course_that_the_lab_has_made_here(tmp_path, monkeypatch):
    """Who types `dlmini lab` in a folder types `dlmini check 04` there, too."""
    from dlmini.course import work
    from dlmini.grade.check import COURSE, find
    from dlmini.grade.lesson import find_lesson

    monkeypatch.delenv("DLMINI_WORK", raising=False)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / COURSE / "exercises" / "04_allreduce.py"
    file.parent.mkdir(parents=True)
    file.write_text("")
    assert work.COPY == COURSE
    assert find(find_lesson("04")) == file
    assert work.work_folder() == tmp_path / COURSE


def test_two_labs_at_once_each_keep_their_own_python(tmp_path, monkeypatch):
    monkeypatch.setattr(jupyter.platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path / "data"))
    found = {}
    for name in ("one", "other"):
        monkeypatch.setattr(sys, "executable", f"/clones/{name}/python")
        found[name] = jupyter.environment(jupyter.settings_folder(tmp_path / name), tmp_path / name)
    for name, env in found.items():
        kernel = Path(env["JUPYTER_PATH"]) / "kernels" / "python3" / "kernel.json"
        assert json.loads(kernel.read_text())["argv"][0] == f"/clones/{name}/python"
    assert len({env["JUPYTERLAB_SETTINGS_DIR"] for env in found.values()}) == 1


def test_kernels_know_the_folder_however_it_was_named(tmp_path, monkeypatch):
    """They begin in notebooks/: from there a relative name would lead elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DLMINI_WORK", "term1")
    monkeypatch.setattr(lab, "live", lambda root, *_: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    lab.lab(browser=False, token=True)
    assert os.environ["DLMINI_WORK"] == str(tmp_path / "term1")
    assert (tmp_path / "term1" / "notebooks" / "index.ipynb").is_file()


@posix
def test_an_empty_name_is_none(monkeypatch):
    def replaced(*_):
        raise SystemExit

    monkeypatch.setenv("DLMINI_WORK", "")
    monkeypatch.setattr(os, "execv", replaced)
    with pytest.raises(SystemExit):
        START["run"](["-m", "dlmini", "lab"])
    assert os.environ["DLMINI_WORK"] == str(Path.home() / "dlmini-course")
