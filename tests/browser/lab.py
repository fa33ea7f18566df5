"""JupyterLab as its reader sees it: a server on a free port of this machine, and pages of it in the machine's Chromium.

Waits are for states, never for time: the kernel object itself says whether it is ready, and every locator looks again.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
READY = """() => {
    const shown = window.jupyterapp?.shell.currentWidget, kernel = shown?.sessionContext?.session?.kernel;
    return kernel && kernel.connectionStatus === 'connected' && kernel.status === 'idle' && shown.context.isReady
}"""
DONE = "() => ![...document.querySelectorAll('.jp-InputPrompt')].some((e) => e.textContent.includes('*'))"


def missing() -> str:
    """What a browser test needs and this machine has not; empty if all is there."""
    if chromium() is None:
        return f"no browser is installed ({', '.join(BROWSERS)}): apt install chromium"
    absent = [name for name in ("playwright", "jupyterlab", "anywidget") if find_spec(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def server(folder: Path, patience: float = 90.0):
    """A JupyterLab that shows `folder`: its address and token. All its processes end with the block."""
    token, home = secrets.token_hex(16), Path(tempfile.mkdtemp(prefix="dlmini-lab-"))
    quiet(home)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    command += ["--expose-app-in-browser", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    with open(home / "log", "wb") as log:
        lab = subprocess.Popen(command, env=private(home), stdout=log, stderr=log, start_new_session=True)
    try:
        yield address(lab, home, token, time.monotonic() + patience), token
    finally:
        for sign, wait in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
            with suppress(ProcessLookupError):
                os.killpg(lab.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                lab.wait(wait)
                break
        shutil.rmtree(home, ignore_errors=True)


def quiet(home: Path) -> None:
    """No questions about news: they lie over the page."""
    settings = home / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"fetchNews": "false", "checkForUpdates": false}')


def private(home: Path) -> dict[str, str]:
    """An environment in which nothing of the user's own Jupyter is read or written."""
    places = {"RUNTIME_DIR": "run", "CONFIG_DIR": "config"}
    found = {f"JUPYTER_{name}": str(home / place) for name, place in places.items()}
    found |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
    return {**os.environ, **found, "IPYTHONDIR": str(home / "ipython")}


def address(lab, home: Path, token: str, end: float) -> str:
    while lab.poll() is None and time.monotonic() < end:
        with suppress(OSError, ValueError, IndexError, StopIteration):
            url = json.loads(next((home / "run").glob("jpserver-*.json")).read_text())["url"]
            urllib.request.urlopen(f"{url}api/status?token={token}", timeout=5).close()
            return url
        time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start:\n" + (home / "log").read_text()[-2000:])


@contextmanager
def page(url: str, token: str, notebook: str, width: int = 1400, height: int = 1000, scale: float = 1):
    """The notebook, open. scale: pixels of the screen for each of the page, as at 200 %."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        options = ["--disable-dev-shm-usage", "--disable-gpu"]
        browser = play.chromium.launch(executable_path=chromium(), args=options)
        view = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=scale)
        view.goto(f"{url}lab/tree/{notebook}?token={token}&reset")
        try:
            yield view
        finally:
            browser.close()


def ready(view, patience: float = 120.0) -> None:
    """Until the notebook is open and its kernel idle: before, the page has no application to give orders to."""
    view.wait_for_function(READY, timeout=1000 * patience)


def run_all(view, patience: float = 120.0) -> None:
    """Run all cells; live ones return at once."""
    ready(view, patience)
    view.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    view.wait_for_function(DONE, timeout=1000 * patience)


SHOW = """(text) => {
    const book = window.jupyterapp.shell.currentWidget.content;
    book.activeCellIndex = book.widgets.findIndex((cell) => cell.model.sharedModel.source.includes(text));
    book.scrollToItem(book.activeCellIndex, 'start')
}"""


def show_cell(view, text: str) -> None:
    """Bring the cell with this text into view: a long notebook draws only what is."""
    view.evaluate(SHOW, text)


def write_notebook(path: Path, *cells: str) -> None:
    """A notebook with these cells, for this Python."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    rows = [code_cell(f"cell-{i}", text) for i, text in enumerate(cells)]
    path.write_text(json.dumps({"cells": rows, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}), "utf-8")


def code_cell(name: str, text: str) -> dict:
    return {"cell_type": "code", "id": name, "source": text, "metadata": {}, "outputs": [], "execution_count": None}
