"""`dlmini volunteer serve | join | status | demo`: one network, trained on machines that come and go."""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.markup import escape

from dlmini.checks import real
from dlmini.commands.progress import end_as_by_ctrl_c, ended_early, refuse_ignored, some_of
from dlmini.files import plainly
from dlmini.terminal import console, harmless, write_results

volunteer = typer.Typer(no_args_is_help=True, help="Train one network on machines that come, go, fail and lie.")
INSTALL = "volunteers need starlette, uvicorn and httpx; pip install dlmini brings them"
STRANGE = "answers, but not as a project does; is it the address that the server shows?"
Url = Annotated[str, typer.Argument(metavar="URL", help="as the server shows it: http://HOST:PORT; HOST is enough")]


def named(text: str) -> Path:
    """A folder that was really named: no name at all would be the one where the command was typed."""
    if not text.strip():
        raise typer.BadParameter("it has no name; say where the project lives")
    return Path(text)


@volunteer.command()
def serve(
    folder: Annotated[
        Path, typer.Argument(parser=named, metavar="FOLDER", help="where the project lives; it goes on where it was")
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any that is free")] = 8642,
    host: Annotated[str, typer.Option(help="the address to listen at; 127.0.0.1: this machine only")] = "0.0.0.0",
    model: Annotated[str | None, typer.Option(help="volunteer_net, lenet, mlp, softmax_regression ...")] = None,
    data: Annotated[str | None, typer.Option(help="mnist, fashion-mnist or blobs")] = None,
    units: Annotated[int | None, typer.Option(min=1, help="parts of the training set, a unit each")] = None,
    iterations: Annotated[int | None, typer.Option(min=1)] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="mini-batches of a unit")] = None,
    batch: Annotated[int | None, typer.Option(min=0, help="rows of a step; in a federation 0 is all of them")] = None,
    optimizer: Annotated[str | None, typer.Option(help="adam, sgd, momentum ...")] = None,
    rate: Annotated[float | None, typer.Option(help="learning rate")] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    strategy: Annotated[
        str | None, typer.Option(help='a federation: FedAvg, "FedProx(mu=0.1)", "FedAvg(rule=Krum(f=2))" ...')
    ] = None,
    clients: Annotated[int | None, typer.Option(min=1, help="of a federation; volunteers act them")] = None,
    share: Annotated[float | None, typer.Option(help="of the clients that a round draws")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="of a client in a round")] = None,
    split: Annotated[str | None, typer.Option(help="who has which rows: iid, labels:2, dirichlet:0.5")] = None,
    at_once: Annotated[int | None, typer.Option(min=1, help="clients at work, with FedAsync and FedBuff")] = None,
    quorum: Annotated[int, typer.Option(min=1, help="answers that are compared")] = 2,
    max_error: Annotated[int, typer.Option(min=0, help="more errors, and a unit is given up")] = 3,
    max_total: Annotated[int, typer.Option(min=1, help="copies of a unit at most")] = 10,
    deadline: Annotated[float, typer.Option(help="seconds that a host has for a unit")] = 600.0,
    tolerance: Annotated[float, typer.Option(help="0: answers must agree to the bit; else how nearly")] = 0.0,
    alike: Annotated[
        bool, typer.Option(help="a unit goes to hosts of one kind only: others round differently, and are no liars")
    ] = False,
    adaptive: Annotated[bool, typer.Option(help="believe hosts alone that were long right")] = False,
    durable: Annotated[bool, typer.Option(help="wait for the disk at every answer: safe against power cuts")] = False,
    certificate: Annotated[Path | None, typer.Option(help="TLS: the certificate's file")] = None,
    key: Annotated[Path | None, typer.Option(help="TLS: the key's file")] = None,
) -> None:
    """Serve a project: volunteers join it by `dlmini volunteer join`, everybody watches it at its address."""
    demand()
    end_as_by_ctrl_c()
    from dlmini.volunteer.engine import Engine
    from dlmini.volunteer.server import serve as run
    from dlmini.volunteer.unit import Terms
    from dlmini.volunteer.validator import Bitwise, Close

    if (certificate is None) != (key is None):
        raise ValueError("--certificate and --key belong together: TLS needs both files")
    if absent := [file for file in (certificate, key) if file is not None and not file.is_file()]:
        raise OSError(f"{absent[0]} is no file; TLS needs a certificate and its key as PEM files")
    given = {"model": model, "data": data, "units": units, "iterations": iterations, "steps": steps, "batch": batch}
    given |= {"optimizer": optimizer, "rate": rate, "seed": seed, "at_once": at_once}
    given |= {"strategy": strategy, "clients": clients, "share": share, "epochs": epochs, "split": split}
    work = described({name: value for name, value in given.items() if value is not None})
    real(deadline, "--deadline", above=0, hint="seconds that a host has for a unit")
    success = max(quorum, min(2 * quorum, max_total))
    terms = Terms(quorum, quorum, max_error, max_total, success, deadline, adaptive, alike)
    same = Close(tolerance) if tolerance else Bitwise()
    engine = Engine(folder, work, terms, same, durable)
    tls = (certificate, key) if certificate else ()
    try:
        run(engine, host, port, tls, lambda port: welcome(engine, host, port, bool(tls)))
    except KeyboardInterrupt:  # the usual way to end it
        say(f"The server has ended. Serve {folder} again, and the project goes on where it was.")


def described(given: dict):
    """The work of the options that were given; None if there were none."""
    from dlmini.federated.described import strategy_in
    from dlmini.volunteer.federated_work import FederatedWork
    from dlmini.volunteer.work import Work

    if not {"strategy", "clients", "share", "epochs", "split", "at_once"} & {*given}:
        return Work(**given) if given else None
    if strange := [name for name in ("units", "steps", "optimizer") if name in given]:
        raise ValueError(
            f"--{strange[0]} is not for a federation: a unit is a client's round of --epochs by plain SGD, and a round "
            "has --share of the --clients"
        )
    strategy = strategy_in(given.get("strategy", "FedAvg"))
    if "at_once" in given and strategy.synchronous:
        raise ValueError("--at-once is for FedAsync and FedBuff: all others have a round's clients at work at once")
    return FederatedWork(**given | {"strategy": strategy})


def welcome(engine, host: str, port: int, tls: bool) -> None:
    """What the lecturer's screen shows."""
    shown = own_address() if host in ("0.0.0.0", "::") else host
    url = f"{'https' if tls else 'http'}://{f'[{shown}]' if ':' in shown else shown}:{port}"
    work = engine.work
    say(f"{work.model} on {work.data}, {work.told()}: iteration {engine.iteration} of {work.versions}")
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
    with_parent: Annotated[bool, typer.Option(hidden=True, help="leave when standard input ends")] = False,
) -> None:
    """Give this machine's time to a project, until it is finished or you press Ctrl-C."""
    demand()
    from dlmini.volunteer.client import Client
    from dlmini.volunteer.limits import Limits
    from dlmini.volunteer.names import name_of

    own = name_of(name) or name_of(socket.gethostname()) or "volunteer"
    client = Client(url, own, folder, Limits(cores, ram, disk, hours), say, trusted(authority))
    end_as_by_ctrl_c()
    if with_parent:
        from dlmini.volunteer.client import follow_parent

        follow_parent(client)
    try:
        client.stay(units)
    except KeyboardInterrupt:
        say("Left. What is under way goes on when you join again.")


@volunteer.command()
def status(
    url: Url,
    plain: Annotated[bool, typer.Option("--json", help="everything, as one JSON object")] = False,
    authority: Annotated[Path | None, typer.Option(help="TLS: the certificate to trust")] = None,
) -> None:
    """How a project stands."""
    demand()
    from dlmini.volunteer.names import address_of

    place = address_of(url)
    found = asked(place, trusted(authority))
    try:
        lines = standing(found)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise OSError(f"{place} {STRANGE}") from error
    if plain:
        print(json.dumps(found))
        return
    for line in lines:
        say(line)


def asked(place: str, verify):
    """What a server says of its project."""
    import httpx

    try:
        reply = httpx.get(f"{place}/status", timeout=10, trust_env=False, verify=verify)
    except httpx.HTTPError as error:
        raise OSError(f"{place} does not answer ({plainly(error)}); is the server running?") from error
    try:
        found = reply.json()
    except (ValueError, RecursionError) as error:
        raise OSError(f"{place} {STRANGE}") from error
    if reply.status_code != 200 and isinstance(found, dict):
        raise OSError(f"{place} says {reply.status_code}: {found.get('error')}"[:300])
    return found


def standing(found) -> list[str]:
    """How a project stands, in three lines."""
    now = min(found["iteration"] + 1, found["iterations"])
    way = "paused" if found["paused"] else f"iteration {now} of {found['iterations']}"
    way = "finished" if found["finished"] else way
    accuracy = f"{found['accuracy'][-1][1]:.1%}" if found["accuracy"] else "not measured yet"
    on = sum(host["on"] for host in found["hosts"])
    return [
        f"{found['work']['model']} on {found['work']['data']}: {way}, accuracy {accuracy}",
        f"{on} hosts on, {len(found['hosts']) - on} off; {found['done']} units done, {len(found['given_up'])} given up",
        "copies: " + ", ".join(f"{count} {state}" for state, count in found["copies"].items() if count),
    ]


@volunteer.command()
def demo(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="write tables and figures to this new folder")] = None,
    part: Annotated[
        str, typer.Option(help="experiment, delivery, dispatch, learning; several with commas; or all")
    ] = "experiment,delivery,dispatch",
    seed: Annotated[int, typer.Option(min=0, help="of hosts and training; constants were fitted with 0")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="of the sweeps, from --seed on: means and spreads")] = 1,
    iterations: Annotated[int | None, typer.Option(min=1, help="fewer than the published 64, for a quick look")] = None,
    crew: Annotated[int, typer.Option(min=0, help="units trained at a time; 0: one per core")] = 0,
) -> None:
    """Repeat a published experiment with simulated volunteers: 64 iterations, 75 hosts, 5 % of results failed.

    experiment: hosts in virtual time, the network really trained; two minutes. delivery: VM against container.
    dispatch: deadlines, quorums and liars swept. learning: local sets and local steps swept, some minutes more.
    """
    from dlmini import files
    from dlmini.studies.volunteers import report
    from dlmini.studies.volunteers.study import PARTS, Found, study

    parts = some_of("part", part, PARTS)
    if not {"experiment", "learning"} & {*parts}:
        refuse_ignored(context, ("crew",), "nothing is trained, so {}; add --part experiment")
    if not {"dispatch", "learning"} & {*parts}:
        refuse_ignored(context, ("seeds",), "nothing is swept, so {}; add --part dispatch")
    if out is not None:
        files.demand_new(out)
    found = Found(seed, seeds)
    early = ended_early(lambda: study(parts, seed, crew or os.cpu_count() or 1, say, iterations, seeds, found))
    if early and not (found.learned or found.others or found.deadlines or found.sets):
        say("stopped by hand before a part was done; nothing is written")
        raise typer.Exit(130)
    console.print(Markdown(report.text(found)))
    if out is not None:
        write_results(out, partial(report.write, found), "tables and figures")
    if early:
        say("stopped by hand: what was done until then is above")
        raise typer.Exit(130)


def trusted(authority: Path | None):
    """Whom TLS believes: everybody's authorities, or the one certificate that was given."""
    if authority is None:
        return True
    import ssl

    try:
        return ssl.create_default_context(cafile=str(authority))
    except OSError as error:
        raise OSError(
            f"--authority {authority} is no certificate that can be read ({error.strerror or error})"
        ) from error


def demand() -> None:
    if not all(map(find_spec, ("starlette", "uvicorn", "httpx"))):
        raise ImportError(INSTALL)


def say(text: str) -> None:
    console.print(escape(harmless(text)), highlight=False, soft_wrap=True)
    sys.stdout.flush()
