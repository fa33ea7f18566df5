"""Recording: each scene of a lesson is run as a dashboard would run it, and what one saw is kept, thinned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from dlmini import lessons
from dlmini.data import load
from dlmini.events import Event, Round
from dlmini.optim import SGD
from dlmini.show import dashboard_choices as choices
from dlmini.show.live_run import LiveRun, Plan, Portioned
from dlmini.show.recordings.files import write
from dlmini.show.recordings.film import Deed, Film, Scene
from dlmini.show.recordings.recorded import Recorded
from dlmini.show.recordings.thin import thinned
from dlmini.task import Classify


def meant(words: Iterable[str] | None) -> list[str]:
    """The names of the recordings that somebody asks for, all if nobody says which."""
    films = lessons.folders("recording.py")
    names = {word: lessons.called(word, films) for word in words or films}
    for word, name in names.items():
        if name is None:
            raise ValueError(
                f"nothing is recorded of {word!r}, but of {', '.join(films)}; a lesson with a recording.py is recorded"
            )
    return list(names.values())


def film_of(name: str) -> Film:
    """What is recorded of a lesson, such as 03_data_parallelism."""
    return lessons.part(name, "recording").film


def record(name: str, file: Path, ended: Callable[[Recorded], None] = lambda run: None) -> Path:
    """Make the recording of a lesson; `ended` hears of each run as it is done."""
    film, runs = film_of(name), []
    task = learned_in(film)
    for scene in film.scenes:
        runs.append(shot(task, scene, film.optimizer or SGD(film.rate)))
        ended(runs[-1])
    return write(file, runs)


def learned_in(film: Film):
    """The task of all its scenes."""
    if film.task is not None:
        return film.task()
    train, test = load("fashion-mnist")
    return Classify(film.network(), train, test, batch=film.batch)


def shot(task, scene: Scene, optimizer) -> Recorded:
    """One run, from its start to its end."""
    chosen, label = words_of(scene)
    plan = Plan(task, optimizer, scene.steps, scene.looks)
    if scene.method is not None:
        plan = Portioned(task, scene.method, scene.looks)
    if scene.on == "processes":
        plan.warm(**chosen)  # as a dashboard does while somebody reads the cell
    run, board, doubts = plan.begun(**chosen)
    marks = [(0.0, run.marks())] if scene.slow else []
    marks += done(scene.deeds, run, board.rounds)
    end = run.verdict()
    events = sorted(run.events, key=lambda event: event.at)
    board.take(events)
    return Recorded(label, thinned(events), marks, doubts, end, board.facts(whole=True))


def words_of(scene: Scene) -> tuple[dict, str]:
    """What the drop-downs of a dashboard would hold, and its line in the legend."""
    from dlmini.show.dashboard_panel import Panel, PortionPanel  # need widgets; reading recordings does not

    place = scene.workers, scene.on, scene.slow
    if scene.method is not None:
        panel = PortionPanel(scene.method, choices.networks(scene.network), *place)
    else:
        levels = choices.levels(scene.sync, scene.topology, scene.compression)
        panel = Panel((*levels, choices.networks(scene.network)), *place)
    return panel.chosen(), " · ".join(filter(None, [panel.label(), scene.remark]))


def done(deeds: Iterable[Deed], run: LiveRun, rounds: int) -> list[tuple[float, dict[str, str]]]:
    """Follow the run to its end and press the buttons in time; the marks they left, and when."""
    left, marks, now = sorted(deeds, key=lambda deed: deed.after), [], 0.0
    with suppress(Exception):  # a run that breaks says so in its verdict
        for event in run.run:
            now = max(now, event.at)
            if left and has_come(event, left[0], rounds):
                press(left.pop(0), run)
                marks.append((now, run.marks()))
    return marks


def has_come(event: Event, deed: Deed, rounds: int) -> bool:
    return isinstance(event, Round) and event.rank == 0 and event.t + 1 >= deed.after * rounds


def press(deed: Deed, run: LiveRun) -> None:
    if deed.button == "kill":
        run.kill(deed.rank)
    else:
        run.control.slow(deed.rank, {"slow": choices.SLOWER, "speed up": 1.0}[deed.button])
