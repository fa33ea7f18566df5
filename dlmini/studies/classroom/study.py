"""The whole experiment, world after world."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from dlmini.run import train
from dlmini.sim import Simulated
from dlmini.studies.classroom import learning, many_runs, packets_kept, real, timing, unsaid
from dlmini.studies.classroom.learning import Form
from dlmini.studies.classroom.published import PCS
from dlmini.studies.classroom.report import Found

WORLDS = ("reckoned", "simulated", "real")
PARTS = ("times", "ways", "mistakes", "batches", "computers", "packets")  # of the second world


def study(
    form: Form,
    worlds: Iterable[str] = WORLDS,
    crew: int = 1,
    say: Callable[[str], None] = print,
    kept: Path | None = None,
    parts: Iterable[str] = PARTS,
    into: Found | None = None,
) -> Found:
    """Everything that is asked for; `say` hears a line now and then. crew: runs at a time; kept: finished ones; into:
    holds what is done, for who ends it early."""
    found, worlds = into or Found(form), {*worlds}
    if "real" in worlds:
        found.skipped = real.obstacle()
        if not found.skipped:
            say("real: six hosts at 1 Gbit/s, Open MPI between them")
            found.real = real.measured()
    if "simulated" in worlds:
        parts = {*parts}
        if "times" in parts:
            say("simulated: the whole U-Net in virtual time")
            found.timed = [timing.timed(name) for name in timing.recipes()]
            found.cable = [timing.timed(name, cable=True) for name in timing.recipes()]
        learned(form, found, {part: some for part, some in jobs(form).items() if part in parts}, crew, say, kept)
        if "packets" in parts:
            found.kept, codecs = kept_along(form), unsaid.CODECS.items()
            found.unsaid = {name: unsaid.unsaid_by_layer(form, codec, 2 * form.syncs) for name, codec in codecs}
    return found


def jobs(form: Form) -> dict[str, list[tuple]]:
    """Trainings by part, as `many_runs.spread` takes them; some belong to two parts."""
    whole = form.epochs >= learning.LONG.epochs
    six = [(learning.learn, form, name, way, seed) for name, way in learning.WAYS.items() for seed in form.seeds]
    return {
        "ways": six,
        "mistakes": [
            (learning.learn_with, form, made, seed) for made in learning.choices(whole) for seed in form.seeds
        ],
        "batches": [(learning.alone, form, batch) for batch in form.batches],
        "computers": [(learning.alone, form, form.each * PCS), next(job for job in six if job[2] == "float32")],
    }


def learned(form: Form, found: Found, asked: dict, crew: int, say: Callable[[str], None], kept: Path | None) -> None:
    """The second world's training; what belongs to two parts is trained once."""

    def tell(one) -> None:
        say(f"  {one.name}, seed {one.seed}: {one.accuracy:.1%}")

    every = list(dict.fromkeys(job for some in asked.values() for job in some))
    if every:
        say(f"simulated: learning. {form}")
    done = dict(zip(every, many_runs.spread(every, crew, tell, kept), strict=True))
    for part, some in asked.items():
        setattr(found, part, [done[job] for job in some])


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
