"""`dlmini lab`: JupyterLab at the course's index, with everything warm."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from dlmini.commands.workspace import brought
from dlmini.course import folder
from dlmini.course.work import NAMED
from dlmini.terminal import console, display, say

NO_TOKEN = (
    "without its token every program, user and web page that reaches this port could run code as you; dlmini does not "
    "start a lab like that. The address it prints has the token in it: one click, nothing to type"
)
OPEN = (
    "[yellow]The lab answers at {ip}, not on this machine alone.[/yellow] Whoever has the address with its token can "
    "run programs as you, and what travels is not encrypted. Safer: leave --ip out, and come through\n"
    "    ssh -L {port}:127.0.0.1:{port} this-machine"
)


def lab(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free")] = 0,
    browser: Annotated[bool | None, typer.Option(help="open one; by default where there is a screen")] = None,
    ip: Annotated[str, typer.Option(help="the address to listen at")] = "127.0.0.1",
    token: Annotated[bool, typer.Option("--token/--no-token", hidden=True)] = True,
) -> None:
    """Open the course in JupyterLab. Ctrl-C ends it, with everything that was started in it."""
    if not token:
        raise ValueError(NO_TOKEN)
    for name in ("jupyterlab", "ipykernel"):
        require(name)
    demand_address(ip, port)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # be ended as by Ctrl-C, in good order
    with suppress(KeyboardInterrupt):  # the usual way to end it; File > Shut Down is the other
        os.environ[NAMED] = str(root := brought().root)  # for kernels: they begin in notebooks/, or where it leads
        live(root, ip, port, has_screen() if browser is None else browser)
    say("The lab is closed.")


def demand_address(ip: str, port: int) -> None:
    """Whether one can listen there; better said before the course is made than in Jupyter's words after it."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(ip, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as door:
            if os.name == "posix":
                door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            door.bind(place)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is no address"
        raise OSError(
            f"--ip {ip} --port {port} cannot be used ({why}); choose others, or leave both out: then any free port of "
            "this machine alone is taken"
        ) from error


def live(root: Path, ip: str, port: int, browser: bool) -> None:
    """Start, warm up while the server starts, lead the reader in, and wait for the end."""
    from dlmini.course import jupyter

    began, page = time.perf_counter(), folder.INDEX.as_posix()
    with jupyter.running(root, page, ip, port) as wait:
        warm_up()
        server = wait()
        if ip not in jupyter.LOOPBACK:
            say(OPEN.format(ip=ip, port=server.url.rstrip("/").rpartition(":")[2]))
        say(f"The lab is ready after {time.perf_counter() - began:.1f} s. Ctrl-C here closes it.")
        print(server.address(page), flush=True)
        if browser:
            webbrowser.open(server.door.as_uri())
        code = server.process.wait()
    if code:
        raise OSError(f"JupyterLab has ended by itself, with exit code {code}")


def warm_up() -> None:
    """Compile, or load, whatever lessons need; with a bar, since the first time takes long."""
    from dlmini.course.warm_up import cold, prepared, stages

    todo = stages()
    if cold() and len(todo) > 1:
        say("Compiling the kernels, this one time: ten seconds or twenty.")
    progress = display()
    progress.disable = not console.is_terminal
    with progress:
        bar = progress.add_task("warming up", total=len(todo))
        for name in prepared(todo):
            progress.update(bar, description=f"warmed up: {name}", advance=1)


def require(name: str) -> None:
    from importlib.util import find_spec

    if find_spec(name) is None:
        raise ModuleNotFoundError(f"the lab needs {name}, which is not installed; pip install dlmini brings it")


def has_screen() -> bool:
    """Is there somebody in front of this very machine?"""
    if "SSH_CONNECTION" in os.environ:
        return False
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
