"""A JupyterLab with settings of its own: on this machine only, behind a token, and without a word to the network.

Its settings lie in the user's data folder for dlmini, so what a student chooses (a dark theme, larger letters) stays,
and what they have set up for other work is neither used nor touched. Its python3 kernel is this Python, whatever
kernels are installed elsewhere. Open tabs and the log live in a temporary folder, and go with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import platformdirs
import psutil

from dlmini.files import write_text

START = 60.0  # seconds until it must answer
GRACE = 20.0  # seconds to shut down kernels
WHOLE = "file-browser-path=/"  # the list of files begins at the top: exercises are seen beside notebooks
LOOPBACK = ("127.0.0.1", "localhost", "::1")
NOTIFICATIONS = Path("@jupyterlab/apputils-extension/notification.jupyterlab-settings")
QUIET = {"fetchNews": "false", "checkForUpdates": False}
WORDS = ".jp-RenderedText pre { word-break: normal; overflow-wrap: break-word; }\n"
SILENT = [
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
    "--LabApp.custom_css=True",
    "--LanguageServerManager.autodetect=False",  # it would run npm to look for some
]


class Lab(NamedTuple):
    """A running server: its process, where it answers, the key to it, and a file that leads a browser there."""

    process: subprocess.Popen
    url: str
    token: str
    door: Path

    def address(self, page: str) -> str:
        return f"{self.url}lab/tree/{page}?token={self.token}&{WHOLE}"


@contextmanager
def running(root: Path, page: str, ip: str = LOOPBACK[0], port: int = 0):
    """Yields a function that waits for the server and returns the Lab; nothing of it is left after the block."""
    with tempfile.TemporaryDirectory(prefix="dlmini-jupyter-", ignore_cleanup_errors=True) as temporary:
        run = Path(temporary)
        process = started(run, [*words(root, page, ip, port), *SILENT])
        try:
            yield lambda: answering(process, run)
        finally:
            ended(process)


def words(root: Path, page: str, ip: str, port: int) -> list[str]:
    """The command line that differs from start to start. The token is not in it: others may read command lines."""
    place = [
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab/tree/{page}?{WHOLE}",
        f"--ip={ip}",
        f"--port={port}",
    ]
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return ["--no-browser", "--ServerApp.port_retries=0", *place, *as_root]


def started(run: Path, options: list[str]) -> subprocess.Popen:
    """The server's process, out of reach of the terminal's Ctrl-C, which is ours to answer."""
    apart = {"creationflags": 0x200} if os.name == "nt" else {"start_new_session": True}  # a process group of its own
    with (run / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dlmini.course.serve", *options],
            env=environment(settings_folder(run), run),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            **apart,
        )


def settings_folder(run: Path) -> Path:
    """Where settings stay from one start to the next; the temporary folder where the user's own cannot be written."""
    own = Path(platformdirs.user_data_dir("dlmini", appauthor=False)) / "lab"
    for folder in (own, run):
        with suppress(OSError):
            quieten(folder / "settings" / NOTIFICATIONS)
            register(run / "share" / "kernels" / "python3" / "kernel.json")
            whole_words(folder / "config" / "custom" / "custom.css")
            return folder
    raise OSError(f"neither {own} nor {run} can be written to; free some space, or make one of them writable")


def quieten(file: Path) -> None:
    """Neither ask for news of Jupyter nor whether to ask."""
    write(file, QUIET)


def whole_words(file: Path) -> None:
    """Printed lines break between words, not inside them; whoever has a style of his own keeps it."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(WORDS, encoding="utf-8")


def register(file: Path) -> None:
    """The python3 kernel is this very Python; of this lab alone, since another may run another Python."""
    command = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    write(file, {"argv": command, "display_name": "Python 3 (ipykernel)", "language": "python"})


def write(file: Path, content: dict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(content, indent=1))  # whole at any moment: another lab may just read it


def environment(home: Path, run: Path) -> dict[str, str]:
    """Ours, but with Jupyter's folders of our own; JUPYTER_PATH is searched for kernels before all others."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_"))}
    return inherited | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_PATH": str(run / "share"),
        "JUPYTER_RUNTIME_DIR": str(run / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(run / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
    }


def answering(process: subprocess.Popen, run: Path) -> Lab:
    """Wait until it does."""
    end = time.monotonic() + START
    while process.poll() is None and time.monotonic() < end:
        with suppress(OSError, ValueError, StopIteration):
            file = next((run / "runtime").glob("jpserver-*.json"))
            info = json.loads(file.read_text(encoding="utf-8"))
            urllib.request.urlopen(f"{info['url']}api/status?token={info['token']}", timeout=5).close()
            return trusted(Lab(process, info["url"], info["token"], file.with_name(f"{file.stem}-open.html")))
        time.sleep(0.05)
    said = (run / "log").read_text(encoding="utf-8", errors="replace").strip()
    raise OSError("JupyterLab did not start. Its last words:\n" + "\n".join(said.splitlines()[-12:]))


def trusted(lab: Lab) -> Lab:
    """A setting of the whole machine may have taken the token away."""
    if not lab.token:
        raise PermissionError("a configuration of this machine (see `jupyter --paths`) turns Jupyter's token off")
    return lab


def ended(process: subprocess.Popen) -> None:
    """Close its input, which ends it; whatever of it is still there after a while is killed."""
    family = (
        [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)] if alive(process) else []
    )
    process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.kill()  # psutil does not kill another that got the same number since
    process.wait()


def alive(process: subprocess.Popen) -> bool:
    return process.poll() is None
