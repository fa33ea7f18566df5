"""`dlmini join`: this PC becomes one of a room, until Ctrl-C."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markup import escape

from dlmini.commands.progress import end_as_by_ctrl_c
from dlmini.terminal import console, harmless


def join(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="as the lecturer's screen shows it")],
    key: Annotated[str, typer.Option(envvar="DLMINI_ROOM_KEY", help="the room's key; copy all of it")],
    name: Annotated[str, typer.Option(help="what this PC is called in the room; by default its own name")] = "",
    port: Annotated[int, typer.Option(min=0, max=65535, help="where it listens for the others; 0 is any")] = 0,
    wait: Annotated[float | None, typer.Option(help="seconds to wait for the room; by default for ever")] = None,
) -> None:
    """Join a room of PCs: programs of the lecturer's notebook run here, until you press Ctrl-C."""
    from dlmini.comm.classroom import demand_zmq

    demand_zmq()
    from dlmini.comm.classroom.greeting import checked_name, own_name
    from dlmini.comm.classroom.key import read_key
    from dlmini.comm.classroom.member import Member, split_address

    member = Member(*split_address(address), read_key(key), checked_name(name) if name else own_name(), port, say)
    end_as_by_ctrl_c()
    try:
        member.stay(wait)
    except KeyboardInterrupt:
        say("Left the room.")


def say(text: str) -> None:
    console.print(escape(harmless(text)), highlight=False, soft_wrap=True)
    sys.stdout.flush()
