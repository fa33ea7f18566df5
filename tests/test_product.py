"""Over the whole product of the three levels: every combination trains or is refused with a reason; nothing is lost."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from dlmini import SGD, Momentum, Recipe, Simulated, launch
from dlmini import compression as how_briefly
from dlmini import sync as when
from dlmini import topology as with_whom
from dlmini.compression.compressor import Compressor
from dlmini.events import Checkpoint
from dlmini.loop import program
from dlmini.pieces import tried

SYNCS = tried("sync")
TOPOLOGIES = [
    *tried("topology"),
    with_whom.ParameterServer(back=how_briefly.TopK(0.5)),
    with_whom.Star(back=how_briefly.Int8()),
    with_whom.Choco(how_briefly.TopK(0.3)),
]
COMPRESSORS = tried("compression")


def everything_public(room, kind):
    things = (getattr(room, name) for name in room.__all__)
    return {thing for thing in things if isinstance(thing, type) and issubclass(thing, kind)} - {kind}


def test_the_lists_above_leave_out_no_method():
    from dlmini.sync.sync import Sync
    from dlmini.topology.topology import Topology

    assert {type(s) for s in SYNCS} == everything_public(when, Sync)
    assert {type(t) for t in TOPOLOGIES} == everything_public(with_whom, Topology)
    assert {type(c) for c in COMPRESSORS} == everything_public(how_briefly, Compressor)


def refusal(recipe, size) -> str:
    try:
        recipe.check(size)
    except ValueError as reason:
        return str(reason)
    return ""


@pytest.mark.parametrize(("sync", "topology"), list(product(SYNCS, TOPOLOGIES)), ids=repr)
def test_every_combination_trains_or_is_refused_with_a_reason(task, sync, topology):
    size = 3 + topology.servers
    for compression in COMPRESSORS:
        recipe = Recipe(sync, topology, compression, SGD(0.05), rounds=3)
        if reason := refusal(recipe, size):
            assert len(reason) > 40, "a reason is a sentence"
            assert "; " in reason, "and says what to do"
            continue
        weights = launch(program, on=Simulated(size, seed=3), args=(task, recipe))
        for w in weights[:3]:
            assert np.isfinite(w).all(), recipe
            assert not np.array_equal(w, task.initial(0)), recipe


class Counted:
    """An optimiser that adds up, in double precision, every step it makes."""

    def __init__(self, optimizer, total):
        self.optimizer, self.total = optimizer, total

    def start(self, size):
        stepper = self.optimizer.start(size)

        def step(grad, w=None):
            found = stepper(grad, w)
            self.total += found
            return found

        return step


class CountedTask:
    """A task that adds up, in double precision, every gradient: what is produced where nobody steps alone."""

    def __init__(self, task, total):
        self.task, self.total = task, total

    def loss_and_grad(self, w, batch, grad):
        loss = self.task.loss_and_grad(w, batch, grad)
        self.total += grad
        return loss

    def __getattr__(self, name):
        return getattr(self.task, name)


class Heard(Compressor):
    """A compressor that adds up, in double precision, every packet it makes."""

    def __init__(self, inner, total):
        self.inner, self.total = inner, total
        self.summable, self.shared_coin = inner.summable, inner.shared_coin
        self.wants_feedback, self.remembers = inner.wants_feedback, inner.remembers

    def fit(self, shapes):
        self.fitted = self.inner.fit(shapes)
        return self

    def start(self, size, workers=1):
        self.codec = self.fitted.start(size, workers)
        return self

    def encode(self, update, coin):
        packet = self.codec.encode(update, coin)
        self.total += packet.dense()
        return packet

    def __getattr__(self, name):  # what the codec remembers, if it does
        return getattr(self.__dict__.get("codec"), name)


@dataclass(frozen=True)
class Audited(Recipe):
    produced: object = None

    def optimizers(self):
        inner, outer = super().optimizers()
        return Counted(inner, self.produced), outer


@pytest.mark.parametrize("sync", [s for s in SYNCS if not isinstance(s, when.PartlySynchronous)], ids=repr)
@pytest.mark.parametrize(
    "compression", [c for c in COMPRESSORS if c.wants_feedback and not isinstance(c, how_briefly.DGC)], ids=repr
)
def test_all_that_was_sent_and_what_is_kept_back_are_all_that_was_produced(task, sync, compression):
    """One worker, so that the sums are its own. DGC keeps velocities, which is another law: see its own tests."""
    produced, sent = np.zeros(task.size), np.zeros(task.size)
    topology = with_whom.ParameterServer(2) if sync.staleness else with_whom.AllReduce()
    pieces = {"optimizer": Momentum(0.02), "rounds": 8, "checkpoint_every": 8, "produced": produced}
    recipe = Audited(sync, topology, Heard(compression, sent), **pieces)
    counted = task if sync.local else CountedTask(task, produced)
    results = launch(program, on=Simulated(1 + topology.servers), args=(counted, recipe))
    memory = next(e.memory for e in results.events if isinstance(e, Checkpoint) and e.rank == 0)
    kept = memory.get("codec.unsaid", memory["unsaid"]) + memory["late"]
    np.testing.assert_allclose(sent + kept, produced, atol=1e-5)
    assert np.abs(sent).max() > 0
