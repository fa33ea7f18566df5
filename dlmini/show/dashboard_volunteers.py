"""A volunteers' project, live in a notebook: what its page shows, drawn by the kernel.

So it is seen wherever the notebook is, also where a browser does not reach the server's address. Names and sentences
that came from others are escaped.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from html import escape

from ipywidgets import HTML

from dlmini.show.palette import BLUE, GREEN, GREY, ORANGE, PALE, PURPLE, VERMILION, ink_on
from dlmini.show.stills import WithStill

STATES = {"unsent": GREY, "sent": BLUE, "success": GREEN, "error": VERMILION, "no reply": ORANGE}
STATES |= {"invalid": PURPLE, "not needed": PALE}
OFTEN = 1.0


class View(WithStill, HTML):
    """The status; what stands for it where there are no widgets is its last."""

    def _still_bundle(self) -> dict:
        return {"text/html": self.value, "text/plain": "The status of a volunteers' project."}


def show(project) -> View:
    """Display the view; it follows the project until that is closed."""
    from IPython.display import display

    view = View(drawn(project.status()) if project.end.alive else closed(project.url))
    view.observe(lambda _: view.renew(), "value")
    display(view)
    threading.Thread(target=follow, args=(project, view), daemon=True).start()
    return view


def follow(project, view: View) -> None:
    pause = threading.Event()
    while project.end.alive:
        with suppress(Exception):  # it may be closed in this moment: the view then stays as it is
            view.value = drawn(project.status())
        pause.wait(OFTEN)
    view.value = view.value.replace(">live<", ">closed<")


def closed(url: str) -> str:
    return f"<p>The project at {escape(url)} is closed.</p>"


def drawn(status: dict) -> str:
    """The status as HTML."""
    work, looks = status["work"], status["accuracy"]
    now = min(status["iteration"] + 1, status["iterations"])  # a buffer that is never filled is no iteration
    way = "finished" if status["finished"] else f"iteration {now} of {status['iterations']}"
    accuracy = f"{100 * looks[-1][1]:.1f} %" if looks else "–"
    head = f"{work['model']} on {work['data']} · {status['told']} · {way}"
    head += f" · accuracy {accuracy} · {status['done']} units done"
    lost = len(status["given_up"])
    parts = [
        f'<div style="font-size:130%;font-weight:600">{escape(head)}{f", {lost} given up" if lost else ""}'
        f' <small style="color:{GREY}">live</small></div>',
        tiles(status["hosts"]),
        bar(status["copies"]),
        curve(looks, status["iterations"]),
        "".join(f"<div>{escape(line)}</div>" for line in status["events"][:5]),
    ]
    return f'<div style="line-height:1.7">{"".join(parts)}</div>'


def tiles(hosts: list[dict]) -> str:
    """One tile each: blue at work, green on, grey off; a ring around those that failed or lied."""
    found = []
    for host in hosts:
        colour = (BLUE if host["busy"] else GREEN) if host["on"] else GREY
        ring = f"outline:3px solid {VERMILION};" if host["bad"] else ""
        bad = f" / {host['bad']} bad" if host["bad"] else ""
        look = f"background:{colour};color:{ink_on(colour)};{ring}"
        style = f"{look}padding:2px 8px;margin:3px;border-radius:5px;white-space:nowrap"
        found.append(f'<span style="{style}">{escape(host["name"])} · {host["good"]}{bad}</span>')
    return f'<div style="display:flex;flex-wrap:wrap">{"".join(found) or "nobody has joined yet"}</div>'


def bar(copies: dict[str, int]) -> str:
    """Copies of units by state, as a bar and in words."""
    total = sum(copies.values()) or 1
    shown = [(state, count) for state, count in copies.items() if count]
    pieces = "".join(f'<div style="width:{100 * n / total}%;background:{STATES[s]}"></div>' for s, n in shown)
    words = " ".join(f'<span><b style="color:{STATES[s]}">■</b> {n} {s}</span>' for s, n in shown)
    return f'<div style="display:flex;height:14px;margin-top:6px">{pieces}</div>{words}'


def curve(looks: list, last: int) -> str:
    """Accuracy over iterations."""
    points = " ".join(f"{600 * t / max(1, last):.1f},{100 * (1 - a):.1f}" for t, a in looks)
    line = f'<polyline points="{points}" fill="none" stroke="{BLUE}" stroke-width="3"/>'
    frame = f'<rect width="600" height="100" fill="none" stroke="{GREY}"/>'
    now = f"{looks[-1][1]:.1%} after iteration {looks[-1][0]}" if looks else "nothing measured yet"
    look = 'viewBox="-4 -4 608 108" style="width:100%;max-width:760px;height:130px"'
    return f'<svg role="img" aria-label="accuracy: {now}" {look}>{frame}{line}</svg>'
