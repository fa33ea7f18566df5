"""`dlmini volunteer serve | join | status`: one network, trained on machines that come and go."""

from __future__ import annotations

import json
import signal
import socket
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dlmini.terminal import console

volunteer = typer.Typer(no_args_is_help=True, help="Train one network on machines that come, go, fail and lie.")
INSTALL = 'volunteers need starlette, uvicorn and httpx; pip install "dlmini[volunteer]"'
Url = Annotated[str, typer.Argument(metavar="URL", help="as the server shows it: http://HOST:PORT")]


@volunteer.command()
def serve(
    folder: Annotated[Path, typer.Argument(help="where the project lives; it goes on where it was")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any that is free")] = 8642,
    host: Annotated[str, typer.Option(help="the address to listen at; 127.0.0.1: this machine only")] = "0.0.0.0",
    model: Annotated[str | None, typer.Option(help="volunteer_net, lenet, mlp, softmax_regression ...")] = None,
    data: Annotated[str | None, typer.Option(help="mnist, fashion_mnist or blobs")] = None,
    units: Annotated[int | None, typer.Option(min=1, help="parts of the training set, a unit each")] = None,
    iterations: Annotated[int | None, typer.Option(min=1)] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="mini-batches of a unit")] = None,
    batch: Annotated[int | None, typer.Option(min=1)] = None,
    optimizer: Annotated[str | None, typer.Option(help="adam, sgd, momentum ...")] = None,
    rate: Annotated[float | None, typer.Option(help="learning rate")] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    quorum: Annotated[int, typer.Option(min=1, help="answers that are compared")] = 2,
    max_error: Annotated[int, typer.Option(min=0, help="more errors, and a unit is given up")] = 3,
    max_total: Annotated[int, typer.Option(min=1, help="copies of a unit at most")] = 10,
    deadline: Annotated[float, typer.Option(help="seconds that a host has for a unit")] = 600.0,
    tolerance: Annotated[float, typer.Option(help="0: answers must agree to the bit; else how nearly")] = 0.0,
    adaptive: Annotated[bool, typer.Option(help="believe hosts alone that were long right")] = False,
    durable: Annotated[bool, typer.Option(help="wait for the disk at every answer: safe against power cuts")] = False,
    certificate: Annotated[Path | None, typer.Option(help="TLS: the certificate's file")] = None,
    key: Annotated[Path | None, typer.Option(help="TLS: the key's file")] = None,
) -> None:
    """Serve a project: volunteers join it by `dlmini volunteer join`, everybody watches it at its address."""
    demand()
    from dlmini.volunteer.engine import Engine
    from dlmini.volunteer.server import serve as run
    from dlmini.volunteer.unit import Terms
    from dlmini.volunteer.validator import Bitwise, Close
    from dlmini.volunteer.work import Work

    if (certificate is None) != (key is None):
        raise ValueError("--certificate and --key belong together: TLS needs both files")
    given = {"model": model, "data": data, "units": units, "iterations": iterations, "steps": steps, "batch": batch}
    given |= {"optimizer": optimizer, "rate": rate, "seed": seed}
    given = {name: value for name, value in given.items() if value is not None}
    success = max(quorum, min(2 * quorum, max_total))
    terms = Terms(quorum, quorum, max_error, max_total, success, deadline, adaptive)
    same = Close(tolerance) if tolerance else Bitwise()
    engine = Engine(folder, Work(**given) if given else None, terms, same, durable)
    tls = (certificate, key) if certificate else ()
    run(engine, host, port, tls, lambda port: welcome(engine, host, port, bool(tls)))


def welcome(engine, host: str, port: int, tls: bool) -> None:
    """What the lecturer's screen shows."""
    shown = own_address() if host in ("0.0.0.0", "::") else host
    url = f"{'https' if tls else 'http'}://{shown}:{port}"
    say(f"{engine.work.model} on {engine.work.data}: iteration {engine.iteration} of {engine.work.iterations}")
    say(f"watch:  {url}/")
    say(f"join:   dlmini volunteer join {url}")
    say(f"admin token: {engine.admin}")


def own_address() -> str:
    """The address by which this machine reaches others; nothing is sent to find out."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("192.0.2.1", 9))
        return sock.getsockname()[0]
    return "127.0.0.1"


@volunteer.command()
def join(
    url: Url,
    name: Annotated[str, typer.Option(help="what this machine is called; by default its own name")] = "",
    folder: Annotated[Path | None, typer.Option(help="where it remembers; a user's cache by default")] = None,
    cores: Annotated[int, typer.Option(min=1, help="cores it may use")] = 1,
    ram: Annotated[float, typer.Option(min=0, help="GB of memory that must stay free")] = 0.5,
    disk: Annotated[float, typer.Option(min=0, help="GB of disk that must stay free")] = 0.5,
    hours: Annotated[str, typer.Option(help="when it may work, such as 20-8; by default always")] = "",
    units: Annotated[int | None, typer.Option(min=1, help="leave after so many units")] = None,
    authority: Annotated[Path | None, typer.Option(help="TLS: the certificate to trust")] = None,
) -> None:
    """Give this machine's time to a project, until it is finished or you press Ctrl-C."""
    demand()
    from dlmini.volunteer.client import Client
    from dlmini.volunteer.limits import Limits

    verify = True
    if authority is not None:
        import ssl

        verify = ssl.create_default_context(cafile=str(authority))
    own = "".join(c for c in name or socket.gethostname() if c.isalnum() or c in " .()-_")[:40].strip() or "volunteer"
    client = Client(url, own, folder, Limits(cores, ram, disk, hours), say, verify)
    with suppress(AttributeError, ValueError):  # asked to end, it leaves as with Ctrl-C
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        client.stay(units)
    except KeyboardInterrupt:
        say("Left. What is under way goes on when you join again.")


@volunteer.command()
def status(
    url: Url, plain: Annotated[bool, typer.Option("--json", help="everything, as one JSON object")] = False
) -> None:
    """How a project stands."""
    demand()
    import httpx

    try:
        found = httpx.get(url.rstrip("/") + "/status", timeout=10, trust_env=False).json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise OSError(f"{url} does not answer as a project does ({error}); is the server running?") from error
    if plain:
        print(json.dumps(found))
        return
    way = "finished" if found["finished"] else f"iteration {found['iteration'] + 1} of {found['work']['iterations']}"
    accuracy = f"{found['accuracy'][-1][1]:.1%}" if found["accuracy"] else "not measured yet"
    say(f"{found['work']['model']} on {found['work']['data']}: {way}, accuracy {accuracy}")
    on = sum(host["on"] for host in found["hosts"])
    say(f"{on} hosts on, {len(found['hosts']) - on} off; {found['done']} units done, {len(found['given_up'])} given up")
    say("copies: " + ", ".join(f"{count} {state}" for state, count in found["copies"].items() if count))


def demand() -> None:
    if not all(map(find_spec, ("starlette", "uvicorn", "httpx"))):
        raise ImportError(INSTALL)


def say(text: str) -> None:
    console.print(escape(text), highlight=False, soft_wrap=True)
    sys.stdout.flush()
