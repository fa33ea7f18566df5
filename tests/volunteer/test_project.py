"""A project from a notebook: a server in the background, volunteers as processes, a view; all of it ends cleanly."""

import os
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from volunteer_servers import until

from dlmini.show import dashboard_volunteers
from dlmini.volunteer.project import Project
from dlmini.volunteer.server import listening
from dlmini.volunteer.work import Work

WORK = Work("softmax_regression", "blobs", units=4, iterations=2, steps=4, batch=8, optimizer="adam", rate=0.05)
STATUS = {
    "work": WORK.plain(), "told": WORK.told(), "iterations": 2, "iteration": 1,
    "finished": False, "paused": False, "done": 5, "given_up": {"3": "errors"},
    "copies": {"unsent": 2, "sent": 1, "success": 5, "error": 0}, "accuracy": [[0, 0.1], [1, 0.9]],
    "events": ["<b>someone</b> joins"],
    "hosts": [{"name": "<script>", "on": True, "busy": 1, "good": 3, "bad": 1},
              {"name": "quiet", "on": False, "busy": 0, "good": 2, "bad": 0}],
}  # fmt: skip


@pytest.mark.slow
def test_volunteers_of_this_machine_do_the_work_and_everything_ends(monkeypatch, tmp_path):
    monkeypatch.setenv("DLMINI_KERNELS", "numpy")
    with Project(WORK, folder=tmp_path / "mine") as project:
        assert project.join(2) == ["volunteer 1", "volunteer 2"]
        found = project.wait(120)
        assert found["done"] == 8
        assert np.array_equal(project.weights(), WORK.alone())
        assert project.accuracy == pytest.approx(WORK.accuracy(WORK.alone()))
        processes = [psutil.Process(one.pid) for one in project.volunteers]
    assert not any(one.is_running() for one in processes)
    assert "closed" in repr(project)
    project.close()
    with Project(folder=tmp_path / "mine") as again:  # it goes on where it was
        assert again.status()["finished"]


@pytest.mark.slow
def test_volunteers_end_when_their_notebook_is_killed(tmp_path):
    program = (
        "import sys, time; from dlmini.volunteer.project import Project; from dlmini.volunteer.work import Work\n"
        f"p = Project(Work(**{WORK.plain() | {'iterations': 10**6}}), folder={str(tmp_path / 'p')!r}); p.join(1)\n"
        "print(p.volunteers[0].pid, flush=True); time.sleep(600)"
    )
    notebook = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=os.environ | {"DLMINI_KERNELS": "numpy"}
    )
    pid = int(notebook.stdout.readline())
    assert psutil.pid_exists(pid)
    notebook.kill()
    notebook.wait()
    notebook.stdout.close()
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_what_is_no_work_is_refused():
    with pytest.raises(TypeError, match="a Work"):
        Project("lenet")


def test_where_a_unit_was_given_up_the_last_weights_are_those_that_came_to_be():
    """FedAsync makes a step of each answer: with a unit given up there is one fewer."""
    for looks, over in (([], False), ([[18, 0.8]], False), ([[18, 0.8], [19, 0.9]], True)):
        found = {"finished": True, "iteration": 19, "iterations": 20, "accuracy": looks}
        assert Project.tried(SimpleNamespace(status=lambda found=found: found)) is over


def test_a_project_that_could_not_begin_can_be_tried_again(tmp_path):
    with listening("127.0.0.1", 0) as taken:
        with pytest.raises(OSError, match="cannot be used") as kept:  # as a notebook keeps the last error
            Project(WORK, folder=tmp_path, port=taken.getsockname()[1])
        with Project(WORK, folder=tmp_path) as project:
            assert project.status()["done"] == 0
    assert kept


@pytest.mark.parametrize("moment", ["Engine.hold", "listening", "Server", "http", "Project.until", "httpx.Client"])
def test_a_project_that_was_interrupted_while_it_began_can_be_tried_again(tmp_path, monkeypatch, moment):
    """A notebook keeps the last error, and with it everything that its frames hold."""

    def interrupted(*args, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"dlmini.volunteer.project.{moment}", interrupted)
        with pytest.raises(KeyboardInterrupt) as kept:
            Project(WORK, folder=tmp_path)
    with Project(WORK, folder=tmp_path) as project:
        assert project.status()["done"] == 0
    assert kept


@pytest.mark.parametrize("waits", [0, 1, 2])
def test_a_project_whose_end_is_interrupted_ends_all_the_same(tmp_path, monkeypatch, waits):
    """Ctrl-C while it waits for its volunteers, or for its server."""
    project, asked = Project(WORK, folder=tmp_path), []
    project.join(2)
    started, wait, join = [*project.volunteers], subprocess.Popen.wait, project.thread.join

    def interrupted(true, timeout):
        asked.append(timeout)
        if len(asked) == waits + 1:
            raise KeyboardInterrupt
        return true(timeout)

    def waiting(process, timeout=None):
        return wait(process) if timeout is None else interrupted(partial(wait, process), timeout)

    with monkeypatch.context() as patch:
        patch.setattr(subprocess.Popen, "wait", waiting)
        patch.setattr(project.thread, "join", partial(interrupted, join))
        with pytest.raises(KeyboardInterrupt):
            project.close()
    assert all(process.poll() is not None for process in started)
    assert not project.thread.is_alive()
    with Project(WORK, folder=tmp_path) as again:
        assert again.status()["done"] >= 0


def test_an_address_of_the_sixth_version_is_written_in_brackets(tmp_path):
    try:
        listening("::1", 0).close()
    except OSError:
        pytest.skip("this machine has no such address")
    for host in ("::1", "::"):
        with Project(WORK, host=host) as project:
            assert project.url.startswith("http://[::1]:")
            assert project.status()["done"] == 0


def test_the_view_shows_hosts_copies_and_accuracy_and_escapes_what_others_wrote():
    html = dashboard_volunteers.drawn(STATUS)
    assert "<script>" not in html
    assert "<b>someone" not in html
    assert "&lt;script&gt; · 3 / 1 bad" in html
    assert "4 units in an iteration · iteration 2 of 2" in html
    assert "accuracy 90.0 %" in html
    assert "1 given up" in html
    assert "600.0,10.0" not in html  # the second of two iterations is not over
    assert "300.0,10.0" in html


def test_units_that_fill_no_buffer_are_no_iteration_more():
    assert "iteration 2 of 2" in dashboard_volunteers.drawn(STATUS | {"iteration": 2})


def test_the_view_of_a_project_without_anybody():
    empty = STATUS | {"hosts": [], "accuracy": [], "events": [], "copies": {"unsent": 0}, "finished": True}
    assert "nobody has joined yet" in dashboard_volunteers.drawn(empty)
    assert "finished" in dashboard_volunteers.drawn(empty)
