"""The volunteers' page in a browser: five clients join, one is killed, one lies; the page shows it live."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from lab import chromium, missing

sys.path.append(str(Path(__file__).parents[1] / "volunteer"))
from volunteer_servers import project

from dlmini.volunteer.client import Client
from dlmini.volunteer.limits import Limits
from dlmini.volunteer.unit import SENT, Terms
from dlmini.volunteer.work import Work

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"browser tests: {missing()}")]
WORK = Work("softmax_regression", "blobs", units=8, iterations=1000, steps=400, batch=8, rate=0.01)
PAIRS = Terms(quorum=2, target=2, max_error=50, max_total=90, max_success=9, delay=3.0)
PATIENCE = 60_000
OPTIONS = ["--disable-dev-shm-usage", "--disable-gpu"]


class Liar(Client):
    """Trains, and adds one to every weight."""

    def train(self, unit):
        return super().train(unit) + 1


def volunteer(url, name, folder):
    order = [sys.executable, "-m", "dlmini", "volunteer", "join", url, "--name", name, "--folder", str(folder)]
    order += ["--ram", "0", "--disk", "0"]
    return subprocess.Popen(order, env=os.environ | {"DLMINI_KERNELS": "numpy"}, stdout=subprocess.DEVNULL)


def killed_at_work(engine, name, process):
    """Killed while it holds a unit: that one never comes. On a fast machine most moments are between two units."""
    (host,) = [number for number, known in engine.names.items() if known == name]
    for _ in range(200):
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.3)  # what it had sent before is heard meanwhile
        copies = [copy for unit in [*engine.it.units.values()] for copy in unit.copies]
        if any(copy.host == host and copy.state == SENT for copy in copies):
            return process.kill()
        process.send_signal(signal.SIGCONT)
        time.sleep(0.05)
    raise AssertionError(f"{name} never held a unit")


def test_five_join_one_is_killed_one_lies_and_the_page_shows_it(tmp_path, shots, monkeypatch):
    from playwright.sync_api import expect, sync_playwright

    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    monkeypatch.setattr("dlmini.volunteer.engine.ON", 5.0)  # off after five seconds of silence, in place of sixty
    with ExitStack() as stack:
        url, engine = stack.enter_context(project(tmp_path / "server", WORK, PAIRS))
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=chromium(), args=OPTIONS)
        view = browser.new_page(viewport={"width": 1280, "height": 900})
        view.goto(url)
        expect(view.locator("#count")).to_have_text("0 on, 0 off", timeout=PATIENCE)
        honest = [volunteer(url, f"volunteer {k}", tmp_path / f"v{k}") for k in range(1, 5)]
        for process in honest:
            stack.callback(process.wait)
            stack.callback(process.kill)
        liar = Liar(url, "liar", tmp_path / "liar", Limits(ram=0, disk=0), say=lambda text: None)
        thread = threading.Thread(target=liar.stay, daemon=True)
        thread.start()
        stack.callback(thread.join, 30)
        stack.callback(liar.stop)
        expect(view.locator("#count")).to_have_text("5 on, 0 off", timeout=PATIENCE)
        expect(view.locator("#events")).to_contain_text("joins", timeout=PATIENCE)
        view.screenshot(path=shots / "volunteers_joined.png")
        expect(view.locator(".host.bad", has_text="liar")).to_be_visible(timeout=PATIENCE)
        expect(view.locator("#legend")).to_contain_text("invalid", timeout=PATIENCE)
        expect(view.locator("#events")).to_contain_text("that others do not confirm", timeout=PATIENCE)
        view.screenshot(path=shots / "volunteers_lied.png")
        killed_at_work(engine, "volunteer 1", honest[0])
        expect(view.locator("#count")).to_have_text("4 on, 1 off", timeout=PATIENCE)
        expect(view.locator("#legend")).to_contain_text("no reply", timeout=PATIENCE)
        before = engine.it.done
        view.wait_for_function(f"() => /(\\d+) units done/.exec(document.body.innerText)?.[1] > {before}")
        expect(view.locator("#head")).to_contain_text(re.compile(r"accuracy \d"), timeout=PATIENCE)
        view.screenshot(path=shots / "volunteers_killed.png")
        gone = view.locator(".host", has_text="volunteer 1")
        expect(gone).not_to_have_class("on")
        assert engine.it.hosts[next(n for n, name in engine.names.items() if name == "liar")].good == 0
        browser.close()
