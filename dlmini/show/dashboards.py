"""`dashboard(task)`: one cell, everything about distributed training to be seen and touched.

The cell returns at once; a run goes on in the background. Closing the notebook ends the kernel, and with it the ranks.
"""

from __future__ import annotations

from dlmini.checks import piece, real, refuse, truth, whole, word
from dlmini.optim import SGD
from dlmini.show import dashboard_choices as choices
from dlmini.show.dashboard_desk import Dashboard
from dlmini.show.dashboard_panel import Panel, PortionPanel
from dlmini.show.dashboard_replay import SPEEDS, ReplayPanel, Shelf
from dlmini.show.live_run import Plan, Portioned
from dlmini.show.recordings import opened


def dashboard(
    task=None,
    sync="bsp",
    topology="allreduce",
    compression="none",
    workers: int = 4,
    network=None,
    on: str = "processes",
    recording=None,
    large: bool = False,
    *,
    method=None,
    slow: dict[int, float] | None = None,
    speed: float | str | None = None,
    still=None,
    **plan,
) -> Dashboard:
    """The dashboard of a task, or of a recording; the last line of a cell shows it.

    sync, topology, compression, network: words as on the command line ("local:16", "gossip:ring"), or objects.
    on="processes" or "simulated"; slow={rank: factor}; large=True: for a projector.
    plan: steps (how many each worker makes in a run), looks (at the test set meanwhile), optimizer, seed.
    method: Sandblaster(...) in the place of all these but looks; then `workers` are its replicas.
    recording: a lesson's number ("03"), a folder that `Outcome.save` made, or events: then Start replays it.
    speed: how many times as fast as it was, or "at once"; by default such that the longest run takes half a minute.
    still: a recording whose curves stand for the dashboard where there are no widgets (a static copy, paper).
    """
    large = truth(large, "large")
    if task is None and recording is None:
        raise ValueError("a dashboard needs a task to train, or a recording to replay")
    if recording is not None:
        if speed is not None and not (isinstance(speed, str) and speed in SPEEDS):
            speed = real(speed, "speed", above=0, infinite=True, hint=f"or one of {', '.join(SPEEDS)}")
        runs = opened(recording)
        return Dashboard(ReplayPanel(runs, speed), Shelf(), large, runs)
    piece(task, "task", ("loss_and_grad", "initial", "batches"), "a task: Classify(model, train, test)")
    workers, on = whole(workers, "workers", 1), word(on, "on", ("processes", "simulated"))
    if slow is not None and not isinstance(slow, dict):
        refuse(TypeError, "slow", slow, "a mapping of ranks to factors, such as {2: 5.0}")
    shown = [] if still is None else opened(still)
    if method is not None:
        levels, where = (sync, topology, compression), (choices.networks(network), workers, on, slow)
        return portioned(task, method, where, large, levels, shown, **plan)
    menus = *choices.levels(sync, topology, compression), choices.networks(network)
    training = Plan(task, **{"optimizer": SGD(0.05), **plan})
    return Dashboard(Panel(menus, workers, on, slow), training, large, shown)


def portioned(task, method, where, large, levels, shown, **plan) -> Dashboard:
    """The dashboard of a Sandblaster."""
    piece(method, "method", ("portions", "shards", "rounds"), "a Sandblaster(...)")
    usual = {"sync": "bsp", "topology": "allreduce", "compression": "none"}
    strange = [name for name, given in zip(usual, levels, strict=True) if given != usual[name]]
    strange += sorted({*plan} - {"looks"})
    if strange:
        raise ValueError(f"{strange[0]}= has no meaning beside method={method!r}; leave it out")
    return Dashboard(PortionPanel(method, *where), Portioned(task, method, **plan), large, shown)
