"""The dashboard as a student meets it: in JupyterLab, in a browser, with a mouse."""

import json
import os
import shutil
from pathlib import Path

import psutil
import pytest
from lab import missing, page, run_all, server, show_cell, write_notebook

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"browser tests: {missing()}")]

TASK = """
from dlmini import Classify, lenet, load
from dlmini.show import dashboard
train, test = load("fashion-mnist")
task = Classify(lenet(input=train.shape, classes=10), train, test, batch=16)
"""
SHOW = "board = dashboard(task, workers=3, steps=100_000, looks=10_000); board"
PATIENCE = 120_000  # milliseconds


PROJECT = Path(__file__).parents[2]
LESSON = "notebooks/03_data_parallelism.ipynb"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The course as a student has it, and a notebook with nothing but a dashboard."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("notebooks", "exercises"):
        shutil.copytree(PROJECT / name, folder / name)
    write_notebook(folder / "live.ipynb", TASK, SHOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLMINI_PROFILE", "fast")
        with server(folder) as (url, token):
            yield folder, url, token


@pytest.fixture
def shots(tmp_path):
    """Where pictures go: DLMINI_SHOTS keeps them."""
    folder = Path(os.environ.get("DLMINI_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Visitor:
    """Somebody at the dashboard."""

    def __init__(self, view):
        from playwright.sync_api import expect

        self.view, self.expect = view, expect
        self.live, self.status = view.locator(".dlmini-live"), view.locator(".dlmini-status")

    def press(self, name):
        self.view.get_by_role("button", name=name, exact=True).click()

    def sees(self, state):
        self.expect(self.live).to_have_attribute("data-state", state, timeout=PATIENCE)

    def reads(self, text):
        self.expect(self.status).to_contain_text(text, timeout=PATIENCE)

    def counts(self, what, at_least):
        wanted = f"() => Number(document.querySelector('.dlmini-live')?.dataset.{what}) >= {at_least}"
        self.view.wait_for_function(wanted, timeout=PATIENCE)


def test_in_lesson_03_start_watch_kill_start_again_and_stop(lab, shots):
    _, url, token = lab
    with page(url, token, LESSON) as view:
        run_all(view)
        show_cell(view, "dashboard(")
        visitor = Visitor(view)
        visitor.sees("idle")
        view.screenshot(path=shots / "idle.png")
        visitor.press("Start")
        visitor.counts("runs", 1)
        visitor.counts("updates", 3)
        visitor.counts("points", 3)
        visitor.sees("running")
        view.screenshot(path=shots / "running.png")
        visitor.press("Kill")
        visitor.reads("Rank 1 was killed by SIGKILL")
        visitor.sees("ended")
        view.screenshot(path=shots / "killed.png")
        visitor.press("Start")
        visitor.counts("runs", 2)
        visitor.counts("updates", 3)
        visitor.press("Stop")
        visitor.sees("ended")
        visitor.reads("Ended early")
        before = visitor.live.get_attribute("data-points")
        view.screenshot(path=shots / "stopped.png")
        assert visitor.live.get_attribute("data-points") == before


def test_a_kernel_that_is_shut_down_leaves_no_rank_behind(lab):
    _, url, token = lab
    others = set(ranks_alive())  # of kernels of the tests before
    with page(url, token, "live.ipynb") as view:
        run_all(view)
        visitor = Visitor(view)
        visitor.sees("idle")
        visitor.press("Start")
        visitor.counts("points", 5)
        ranks = [rank for rank in ranks_alive() if rank not in others]
        assert len(ranks) >= 3
        view.evaluate(SHUT_DOWN)
        _, alive = psutil.wait_procs(ranks, timeout=30)
        assert not alive


SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


def ranks_alive():
    """Worker processes of kernels that this test has started."""
    mine = psutil.Process().children(recursive=True)
    return [process for process in mine if "forkserver" in json.dumps(process.cmdline())]
