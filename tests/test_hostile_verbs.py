"""The verbs of what one has made get what does not belong there, too: it works rightly, or one sentence says why not.

`hostile.py` has the arguments of everything that is made; here are those of what is done with it then.
"""

import math
from pathlib import Path

import numpy as np
import pytest
from hostile import CLASSES, DATA, NET, TASK, Argument, W, X, Y, only, real, text, whole
from test_hostile_arguments import STRANGE, refused

from dlmini import (
    DGC,
    Adam,
    Dense,
    Dropout,
    Feedback,
    Model,
    Outcome,
    ParameterServer,
    Recipe,
    Simulated,
    TopK,
    launch,
    train,
)
from dlmini.comm.control import Control
from dlmini.events import Slot
from dlmini.memory import arrays, restore
from dlmini.pieces import tried
from dlmini.trackers import write_trace

SHAKY = Model([Dense(3), Dropout(0.5)], (2,))
BATCH = {"x": only(X), "y": only(Y)}
PLACE = Argument(Path("no", "such", "file"), lambda x: isinstance(x, str) and x != "")
RANK = whole(2, 0, 3)
MATRIX = {"size": whole(4, 1, 999), "t": whole(0, least=0)}
SLOT = Slot(rank=0, kind="forward", micro=0, chunk=0, start=0.0, end=1.0)
MIXING = [one for one in tried("topology") if hasattr(one, "matrix")]


def alone(program):
    """What a program comes to that has a simulator to itself."""
    return launch(program, Simulated(1))


# a verb -> what does it, and the arguments it is given
VERBS = {
    "Model.loss_and_grad": (
        NET.loss_and_grad,
        {"w": only(W), **BATCH, "grad": only(NET.zeros()), "ready": only(None, (print, *CLASSES))},
    ),
    "Model.loss_and_grad, with chance": (
        lambda key: SHAKY.loss_and_grad(SHAKY.initial(), X, Y, SHAKY.zeros(), key),
        {"key": only((0, 1), ([1, 2], [], ()))},
    ),
    "Model.predict": (NET.predict, {"w": only(W), "x": only(X), "stats": only(None)}),
    "Model.evaluate": (NET.evaluate, {"w": only(W), **BATCH, "stats": only(None)}),
    "Model.statistics": (NET.statistics, {"w": only(W, STRANGE.values()), "sample": only(X)}),
    "Model.initial": (NET.initial, {"seed": whole(0, least=0)}),
    "Model.views": (NET.views, {"vector": only(W)}),
    "Model.part": (NET.part, {"a": whole(0, 0, 0), "b": whole(1, 1, 1)}),
    "Model.save": (NET.save, {"path": PLACE, "w": only(W), "stats": only(None)}),
    "Model.load": (NET.load, {"path": PLACE}),
    "Model.load_statistics": (NET.load_statistics, {"path": PLACE}),
    "Comm.compute": (
        lambda **given: alone(lambda comm: comm.compute(**given)),
        {"label": text("work"), "fn": only(None, (print, *CLASSES)), "flops": real(1e9, least=0)},
    ),
    "Comm.reached": (
        lambda share: alone(lambda comm: comm.compute("work", lambda: comm.reached(share))),
        {"share": real(0.5, least=0, most=1)},
    ),
    "Comm.poll": (lambda tag: alone(lambda comm: comm.poll(tag=tag)), {"tag": whole(3, 0, 2**31 - 1)}),
    "Comm.arrives": (
        lambda **given: alone(lambda comm: comm.arrives(**given)),
        {"seconds": real(0.1, least=0), "tag": whole(3, 0, 2**31 - 1)},
    ),
    "Comm.group": (lambda ranks: alone(lambda comm: comm.group(ranks)), {"ranks": only([0])}),
    **{f"{type(one).__name__}.matrix": (one.matrix, MATRIX) for one in MIXING},
    "Recipe.check": (Recipe(topology=ParameterServer()).check, {"size": whole(4, 2)}),
    "Classify.batches": (
        TASK.batches,
        {"shard": whole(1, 0, 2), "of": whole(3, 2, 24), "seed": whole(0, least=0), "skip": whole(2, least=0)},
    ),
    "Classify.part": (TASK.part, {"number": whole(1, 0, 2), "of": whole(3, 2, 24), "seed": whole(0, least=0)}),
    "Classify.steps": (TASK.steps, {"epochs": real(1, above=0, most=1e6), "workers": whole(3)}),
    "Dataset.sample": (DATA.sample, {"images": whole(4), "seed": whole(0, least=0)}),
    "Dataset.standardised": (DATA.standardised, {"like": only(DATA, (None,))}),
    "Outcome.load": (Outcome.load, {"folder": PLACE}),
    "write_trace": (
        write_trace,
        {"events": only([SLOT]), "file": PLACE},
    ),
    "Optimizer.start": (Adam(0.1).start, {"size": whole(4, 0, 10**6), "dtype": only(np.float32)}),
    "Stepper.restore": (Adam(0.1).start(3).restore, {"memory": only(Adam(0.1).start(3).memory())}),
    "Feedback.restore": (Feedback(TopK(), 3).restore, {"memory": only({"unsaid": np.zeros(3, np.float32)})}),
    "DGC.restore": (DGC().start(3).restore, {"memory": only(DGC().start(3).memory())}),
    "Control": (Control, {"size": whole(4)}),
    "Control.slow": (lambda **given: Control(4).slow(**given), {"rank": RANK, "factor": real(2.0, least=1)}),
    "Control.cut": (lambda **given: Control(4).cut(**given), {"a": RANK, "b": whole(1, 0, 3)}),
    "Control.heal": (lambda **given: Control(4).heal(**given), {"a": RANK, "b": whole(1, 0, 3)}),
    "Control.kill": (lambda **given: Control(4).kill(**given), {"rank": RANK}),
}
CASES = [(verb, name) for verb, (_, row) in VERBS.items() for name in row]


@pytest.mark.parametrize(("verb", "argument"), CASES, ids=map("-".join, CASES))
def test_what_does_not_belong_is_refused_by_a_sentence_that_names_it(verb, argument):
    call, row = VERBS[verb]
    good = {name: one.good for name, one in row.items()}
    assert not row[argument].unsaid
    refused(lambda value: call(**good | {argument: value}), row[argument], argument, (ValueError, TypeError))


def test_a_gradient_that_cannot_be_written_is_refused():
    still = NET.zeros()
    still.flags.writeable = False
    with pytest.raises(ValueError, match="grad is read-only"):
        NET.loss_and_grad(W, X, Y, still)
    assert NET.loss_and_grad(W, X, Y, NET.zeros()) == pytest.approx(NET.evaluate(W, X, Y)["loss"])


def test_numbers_of_numpy_are_a_key_like_any_other():
    found = [SHAKY.zeros(), SHAKY.zeros()]
    for grad, key in zip(found, [(3, 4), (np.int64(3), np.uint8(4))], strict=True):
        SHAKY.loss_and_grad(SHAKY.initial(), X, Y, grad, key)
    np.testing.assert_array_equal(*found)


REMEMBER = {"stepper": Adam(0.1), "codec": DGC(), "feedback": None}


@pytest.mark.parametrize("what", REMEMBER)
def test_what_another_size_remembered_is_never_spread_over_a_vector(what):
    """NumPy would put a single number into all places."""
    here, other = (REMEMBER[what].start(size) if REMEMBER[what] else Feedback(TopK(), size) for size in (3, 1))
    with pytest.raises(ValueError, match=r"has shape \(1,\).* needs \(3,\)"):
        here.restore(other.memory())
    with pytest.raises(ValueError, match="was kept with shape"):
        restore({"it": here}, arrays({"it": other}))
    with pytest.raises(ValueError, match="the memory holds"):
        here.restore({"of": np.zeros(3)})
    with pytest.raises(TypeError, match="of the memory is"):
        here.restore(dict.fromkeys(here.memory(), "seven"))


def test_a_clock_never_goes_back_nor_becomes_not_a_number():
    def program(comm):
        comm.compute("work", None, flops=1e9)
        seen = [comm.now()]
        for flops in (-5e8, math.nan, math.inf):
            with pytest.raises(ValueError, match=r"flops is .* at least 0: operations of this work"):
                comm.compute("work", None, flops=flops)
            seen.append(comm.now())
        return seen

    assert alone(program)[0] == [1.0] * 4
    assert alone(lambda comm: comm.compute("work", lambda: comm.reached(1 + 1e-12), flops=1e9)).seconds == 1.0


def test_epochs_of_a_recipe_that_leaves_no_worker_are_refused_by_the_recipes_own_sentence():
    for ranks in (1, 2):
        with pytest.raises(ValueError, match=f"{ranks} ranks with 2 servers leave no worker"):
            train(TASK, Recipe(topology=ParameterServer(2)), Simulated(ranks), epochs=1)


class Row:
    """A memory that grows."""

    def __init__(self, *numbers):
        self.numbers = np.array(numbers)

    def memory(self):
        return {"numbers": self.numbers}

    def restore(self, memory):
        self.numbers = memory["numbers"]


@pytest.mark.parametrize("new", [Row(), Row(0.0)])
def test_what_something_new_remembers_may_have_grown(new):
    restore({"it": new}, arrays({"it": Row(1.0, 2.0)}))
    assert new.numbers.tolist() == [1.0, 2.0]
