"""The whole experiment, world after world."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from dlmini.run import train
from dlmini.sim import Simulated
from dlmini.studies.classroom import learning, many_runs, packets_kept, real, timing
from dlmini.studies.classroom.learning import Form
from dlmini.studies.classroom.published import PCS
from dlmini.studies.classroom.report import Found

WORLDS = ("reckoned", "simulated", "real")


def study(
    form: Form,
    worlds: Iterable[str] = WORLDS,
    crew: int = 1,
    say: Callable[[str], None] = print,
    kept: Path | None = None,
) -> Found:
    """Everything that is asked for; `say` hears a line now and then. crew: runs at a time; kept: finished ones."""
    found, worlds = Found(form), {*worlds}
    if "real" in worlds:
        found.skipped = real.obstacle()
        if not found.skipped:
            say("real: six hosts at 1 Gbit/s, Open MPI between them")
            found.real = real.measured()
    if "simulated" in worlds:
        say("simulated: the whole U-Net in virtual time")
        found.timed = [timing.timed(name) for name in timing.recipes()]
        found.cable = [timing.timed(name, cable=True) for name in timing.recipes()]
        learned(form, found, crew, say, kept)
    return found


def jobs(form: Form) -> tuple[list[tuple], list[tuple], list[tuple]]:
    """Trainings, as `many_runs.spread` takes them: ways to say a gradient, mistakes, one computer."""
    whole = form.epochs >= learning.LONG.epochs
    ways = [(learning.learn, form, name, way, seed) for name, way in learning.WAYS.items() for seed in form.seeds]
    mistakes = [(learning.learn_with, form, made, seed) for made in learning.choices(whole) for seed in form.seeds]
    alone = [(learning.alone, form, batch) for batch in dict.fromkeys((*form.batches, form.each * PCS))]
    return ways, mistakes, alone


def learned(form: Form, found: Found, crew: int, say: Callable[[str], None], kept: Path | None = None) -> None:
    """The second world's training: ways, mistakes, batch sizes, one computer and six, and what packets keep."""

    def tell(one) -> None:
        say(f"  {one.name}, seed {one.seed}: {one.accuracy:.1%}")

    say(f"simulated: learning. {form}")
    found.ways, found.mistakes, singles = (many_runs.spread(some, crew, tell, kept) for some in jobs(form))
    found.batches = singles[: len(form.batches)]
    one = next(single for single in singles if single.name == f"batch {form.each * PCS}")
    found.computers = [one, next(way for way in found.ways if way.name == "float32")]
    found.kept = kept_along(form)


def kept_along(form: Form) -> list:
    """What packets keep of a gradient at the beginning, and later."""
    task, found = form.task(), []
    recipe = learning.recipe_of(form, learning.WAYS["float32"], 0)
    for steps in (0, form.syncs):
        w = task.initial()
        if steps:
            w = train(task, replace(recipe, rounds=steps, evaluate_every=0), Simulated(PCS)).result().weights
        found += packets_kept.kept(task, w, steps)
    return found
