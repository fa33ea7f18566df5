"""The dashboard as a student meets it: in JupyterLab, in a browser, with a mouse."""

import json

import psutil
import pytest
from lab import missing, page, run_all, write_notebook
from visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"browser tests: {missing()}")]

LESSON = "notebooks/03_data_parallelism.ipynb"


def test_in_lesson_03_start_watch_kill_start_again_and_stop(lab, shots):
    _, url, token = lab
    with page(url, token, LESSON) as view:
        visitor = Visitor(view)
        visitor.opens_the_dashboard()
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


def test_in_lesson_06_a_killed_worker_is_gone_and_the_others_go_on(lab, shots):
    _, url, token = lab
    with page(url, token, "notebooks/06_asynchrony.ipynb") as view:
        visitor = Visitor(view)
        visitor.opens_the_dashboard()
        visitor.press("Start")
        visitor.counts("points", 3)
        visitor.press("Kill")
        visitor.reads("Rank 1 is gone; 2 workers go on.")
        points = int(visitor.live.get_attribute("data-points"))
        visitor.counts("points", points + 3)
        visitor.sees("running")
        view.screenshot(path=shots / "gone.png")
        visitor.press("Stop")
        visitor.sees("ended")


def test_in_lesson_06_a_slow_worker_holds_up_others_or_nobody(lab, shots):
    _, url, token = lab
    with page(url, token, "notebooks/06_asynchrony.ipynb") as view:
        visitor = Visitor(view)
        visitor.opens_the_dashboard()
        visitor.press("Start")
        visitor.counts("points", 3)
        visitor.reads("nobody waits (asynchronous)")
        visitor.press("Slow")
        visitor.expect(view.get_by_role("button", name="Speed up", exact=True)).to_be_enabled()
        visitor.counts("updates", 6)
        view.screenshot(path=shots / "asynchronous.png")
        visitor.press("Stop")
        visitor.sees("ended")
        visitor.chooses("every step (bulk-synchronous)")
        visitor.press("Start")
        visitor.counts("runs", 2)
        visitor.counts("updates", 3)
        visitor.reads("every step (bulk-synchronous)")
        view.screenshot(path=shots / "synchronous.png")
        visitor.press("Stop")
        visitor.reads("Ended early")


def test_in_lesson_11_configurations_are_drawn_over_each_other(lab, shots):
    _, url, token = lab
    with page(url, token, "notebooks/11_composing.ipynb") as view:
        visitor = Visitor(view)
        visitor.opens_the_dashboard()
        visitor.press("Start")
        visitor.reads("every 16 steps (Local-SGD) · changing partners (gossip) · the largest 5 % (threshold)")
        visitor.counts("points", 5)
        visitor.press("Stop")
        visitor.sees("ended")
        visitor.expect(view.get_by_role("button", name="Start", exact=True)).to_be_enabled()
        for option in ("every 4 steps (Local-SGD)", "everybody (all-reduce)", "in full (float32)"):
            visitor.chooses(option)
        visitor.press("Start")
        visitor.counts("runs", 2)
        visitor.reads("every 4 steps (Local-SGD) · everybody (all-reduce) · in full (float32)")
        visitor.counts("points", 5)
        visitor.press("Stop")
        visitor.sees("ended")
        visitor.expect(view.get_by_role("button", name="Kill", exact=True)).to_be_disabled()
        view.screenshot(path=shots / "composed.png")


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
        _, alive = psutil.wait_procs(ranks, timeout=120)
        assert not alive


SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


def ranks_alive():
    """Worker processes of kernels that this test has started."""
    mine = psutil.Process().children(recursive=True)
    return [process for process in mine if "forkserver" in json.dumps(process.cmdline())]


THEME = "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
DRAWN = "() => [...document.querySelectorAll('.dlmini-live canvas')].every((sheet) => sheet.width && sheet.height)"


def test_pictures_come_back_after_a_change_of_theme(lab, shots):
    """A page that is hidden for less than a frame has sheets of no size; nobody tells when it is back."""
    folder, url, token = lab
    write_notebook(folder / "recorded.ipynb", "from dlmini.show import dashboard", 'dashboard(recording="12", speed=9)')
    with page(url, token, "recorded.ipynb") as view:
        visitor = Visitor(view)
        run_all(view)
        visitor.press("Start")
        visitor.sees("ended")
        view.evaluate(THEME)
        view.locator("body[data-jp-theme-name='JupyterLab Dark']").wait_for(state="attached")
        view.wait_for_function(DRAWN, timeout=30_000)
        view.screenshot(path=shots / "dark.png")
