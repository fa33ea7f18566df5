"""`train`: a task, a recipe and a place to run it. The run goes on in the background; iterate it to watch.

run = train(task, Recipe(sync=LocalSGD(4)), on=Simulated(16, gigabit))
for event in run:
    print(event)
run.result().accuracy
"""

from __future__ import annotations

import warnings
from pathlib import Path

from dlmini.checks import piece, real, refuse, whole
from dlmini.comm.launch import check_transport
from dlmini.recipe import Recipe
from dlmini.running import REMEMBERED, Run
from dlmini.task import peers
from dlmini.trackers import tracker_of


def train(
    task,
    recipe: Recipe,
    on,
    *,
    epochs=None,
    until=None,
    patience=0,
    folder=None,
    resume=None,
    control=None,
    remember=REMEMBERED,
    restarts=0,
    tracker=None,
) -> Run:
    """Start training `task` by `recipe` on the ranks of `on`; a `Split(task, Grid(...))` on the ranks of its grid.

    It ends after recipe.rounds, or after so many `epochs`; or, when weights are tried (recipe.evaluate_every) and the
    test accuracy has reached `until`; or when the test loss has not fallen for `patience` trials. Trials are made in
    order; on real machines some are passed over if ranks are so much faster that 256 MB of weights wait.
    With Recipe(checkpoint_every=k) checkpoints go to `folder` every k rounds; `resume` goes on from one, or from a
    folder's newest.
    control: a `Control(on.size)` to pause, step, slow, cut and kill while it runs.
    remember: of how many rounds, pushes and spans the run keeps the events; older ones are thinned beyond that.
    restarts: how often all ranks may begin again from the last checkpoint, when one is lost that the others need.
    tracker: is told losses, accuracies, bytes and seconds as they come: TensorBoard(folder), Wandb(folder), or any
    object with log(values, step=...) (trackers.py).
    """
    if tracker is not None:
        tracker_of(tracker)
    check_asked(task, recipe, on, until, patience, folder, resume, remember)
    if whole(restarts, "restarts", 0, hint="times to begin again from the last checkpoint") and folder is None:
        raise ValueError(
            f"restarts={restarts} begins again from checkpoints, but none are made; give checkpoint_every= rounds and "
            "train a folder="
        )
    size = peers(task, on.size, recipe)
    if epochs is not None:
        if recipe.workers(size) < 1:
            recipe.check(size)  # it says so; among nobody no epochs can be dealt out
        recipe = recipe.lasting(task.steps(epochs, recipe.workers(size)))
    recipe.check(size)
    for doubt in recipe.doubts(size, task):
        warnings.warn(doubt, stacklevel=2)
    return Run(task, recipe, on, until, patience, folder, resume, control, remember, restarts, tracker)


def check_asked(task, recipe, on, until, patience, folder, resume, remember) -> None:
    """Refuse what `train` cannot do, before anything is started."""
    piece(task, "task", ("loss_and_grad", "initial", "batches"), "a task: Classify(model, train, test)")
    piece(recipe, "recipe", ("workers", "keepers", "rounds"), "a Recipe(...), or Sandblaster(...)")
    check_transport(on)
    if until is not None:
        real(until, "until", above=0, hint="a test accuracy; above 1 it is never reached")
    whole(patience, "patience", 0, hint="looks at the test set")
    whole(remember, "remember", 1, hint="rounds, pushes and spans whose events are kept")
    for name, path in (("folder", folder), ("resume", resume)):
        if path is not None and not (isinstance(path, str | Path) and str(path)):
            refuse(TypeError, name, path, "a path, or None")
    if recipe.checkpoint_every and folder is None and resume is None:
        raise ValueError(
            f"checkpoint_every={recipe.checkpoint_every} makes checkpoints, but there is no place for them; "
            "give train a folder="
        )
    if folder is not None and not recipe.checkpoint_every:
        raise ValueError(
            f"folder={str(folder)!r} is for checkpoints, but none are made; give "
            f"{type(recipe).__name__}(checkpoint_every=...) rounds"
        )
