"""Runs side by side: one model, one task, many threads; everybody gets what he would get alone, to the bit."""

import gc
import pickle
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
import pytest
from greenlet import getcurrent, greenlet

from dlmini import SGD, Classify, CrossEntropy, Dense, Dropout, Flatten, Model, ReLU, lenet, load
from dlmini.comm.processes import Processes
from dlmini.comm.processes.workers import start
from dlmini.nn.passes import Pass
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim.simulated import Simulated
from dlmini.sync import LocalSGD
from dlmini.topology import Gossip, ParameterServer

RECIPES = [
    Recipe(optimizer=SGD(0.1), rounds=12, evaluate_every=2),
    Recipe(sync=LocalSGD(2), topology=Gossip(), optimizer=SGD(0.05), rounds=9, evaluate_every=3, all_workers=True),
    Recipe(topology=ParameterServer(1), optimizer=SGD(0.05), rounds=8, evaluate_every=1, seed=3),
]
PLACES = [Simulated(2), Simulated(4), Simulated(3)]


def at_once(calls):
    """The results of functions that begin together, each in a thread of its own."""
    gate = threading.Barrier(len(calls))
    with ThreadPoolExecutor(len(calls)) as crew:
        return [f.result(120) for f in [crew.submit(lambda call=call: (gate.wait(60), call())[1]) for call in calls]]


def batch(model, images, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((images, *model.input)).astype(np.float32), rng.integers(0, 10, images)


def steps(model, seed):
    """The weights after some steps of sizes that differ, with looks between them."""
    w, g = model.initial(seed), model.zeros()
    for i in range(6):
        x, y = batch(model, 3 + 5 * ((seed + i) % 4), seed + i)
        model.loss_and_grad(w, x, y, g, key=(seed, i))
        w -= 0.05 * g
        model.evaluate(w, x, y)
    return w


def nets():
    """One of each kind: compiled and plain, with teams of threads, with chance in it."""
    drops = [Flatten(), Dense(40), ReLU(), Dropout(0.3), Dense(10)]
    yield from (lenet(), lenet(threads=2), lenet(threads=3), lenet(kernels="numpy"))
    yield from (Model(drops, (28, 28, 1), kernels=kernels) for kernels in ("numba", "numpy"))


@pytest.mark.parametrize("model", [*nets()], ids=["compiled", "two", "three", "plain", "dropout", "plain dropout"])
def test_threads_that_share_a_model_get_what_each_gets_alone(model):
    alone = [steps(model, seed) for seed in range(6)]
    for one, other in zip(at_once([lambda s=s: steps(model, s) for s in range(6)]), alone, strict=True):
        np.testing.assert_array_equal(one, other)


def seen(outcome):
    return outcome.weights.tobytes(), [(m.t, m.loss, m.accuracy) for m in outcome.measured]


def test_many_runs_of_one_task_at_once_on_all_kinds_of_places(task):
    pictures = load("fashion-mnist")[0].subset(range(64))
    convolved = Classify(lenet(), pictures, pictures, batch=4)
    jobs = [(t, r, on) for t in (task, convolved) for r, on in zip(RECIPES, PLACES, strict=True)]
    jobs += [(task, RECIPES[0], Processes(2)), (convolved, RECIPES[0], Processes(2)), (task, RECIPES[1], Processes(4))]
    alone = [seen(train(*job).result(120)) for job in jobs]
    assert at_once([lambda job=job: seen(train(*job).result(120)) for job in jobs + jobs]) == alone + alone


class Talking(CrossEntropy):
    """A loss in the middle of which somebody else has a turn, as a layer of a split network has."""

    def __call__(self, ops, scores, y, slopes, images):
        getcurrent().parent.switch()
        return super().__call__(ops, scores, y, slopes, images)


def test_ranks_of_one_thread_may_be_in_the_middle_of_a_step_together():
    talking, model = lenet(loss=Talking()), lenet()
    grads, truth = [[model.zeros() for _ in range(3)] for _ in range(2)]
    for seed in range(3):
        model.loss_and_grad(model.initial(seed), *batch(model, 5, seed), truth[seed])

    def step(seed):
        talking.loss_and_grad(talking.initial(seed), *batch(talking, 5, seed), grads[seed])

    ranks = [greenlet(lambda seed=seed: step(seed)) for seed in range(3)]
    for rank in ranks + ranks:  # all have begun before the first goes on
        rank.switch()
    np.testing.assert_array_equal(grads, truth)


def test_a_thread_takes_its_work_arrays_with_it():
    model, kept = lenet(threads=2), []
    thread = threading.Thread(target=lambda: (steps(model, 0), kept.append(weakref.ref(model._idle.teams[0]))))
    thread.start()
    thread.join()
    gc.collect()
    assert kept[0]() is None
    steps(model, 1)
    mine, model = weakref.ref(model._idle.teams[0]), None
    gc.collect()
    assert mine() is None


def test_a_step_that_fails_leaves_the_model_fit():
    model = lenet(threads=2)
    truth, (x, y) = steps(lenet(threads=2), 0), batch(model, 8)
    with pytest.raises((ValueError, IndexError)):
        model.loss_and_grad(model.initial(), x, y + 100, model.zeros())
    np.testing.assert_array_equal(steps(model, 0), truth)


def test_a_model_in_use_travels_and_takes_no_arrays_along():
    model = lenet()
    before = len(pickle.dumps(model))
    truth = steps(model, 0)
    assert len(pickle.dumps(model)) == before
    np.testing.assert_array_equal(steps(pickle.loads(pickle.dumps(model)), 0), truth)


def test_passes_in_flight_are_the_callers_own():
    model = lenet()
    passes, w = [Pass(model) for _ in range(3)], model.initial()
    grads, truth = [[model.zeros() for _ in range(3)] for _ in range(2)]
    for i, one in enumerate(passes):  # all forward before any goes back
        x, y = batch(model, 4, i)
        model.loss(one.ops, one.forward(w, x), y, one.slope, 4)
        model.loss_and_grad(w, x, y, truth[i])
    for one, grad in zip(passes, grads, strict=True):
        one.backward(w, grad)
    np.testing.assert_array_equal(grads, truth)


FIRST = """
import threading
import numpy as np
from dlmini import lenet
model, gate, found = lenet(), threading.Barrier(4), []
x, y = np.random.default_rng(0).random((4, 28, 28, 1), np.float32), np.arange(4)
def step():
    w, g = model.initial(), model.zeros()
    gate.wait()
    for _ in range(5):
        model.loss_and_grad(w, x, y, g)
        w -= g
    found.append(w.tobytes())
threads = [threading.Thread(target=step) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert len(found) == 4 and len({*found}) == 1, len({*found})
"""


def test_threads_may_load_the_kernels_together():
    subprocess.run([sys.executable, "-c", FIRST], check=True, timeout=120)


BIRTH = """
import os, sys, threading
import dlmini.comm.processes.workers.warm_workers
from dlmini.comm.launch import launch
from dlmini.comm.processes.workers import start
from dlmini.comm.processes import Processes
start.METHOD = sys.argv[1]
main, environment, looks = sys.modules["__main__"], dict(os.environ._data), 0

def look(*_):
    global looks
    looks += 1
    assert sys.modules["__main__"] is main and os.environ._data == environment, "another thread would see it"

def program(comm):
    import __main__
    return os.environ["OPENBLAS_NUM_THREADS"], hasattr(__main__, "environment"), comm.rank

def run():
    sys.setprofile(look)  # at every call and return, in this thread
    try:
        found.append(launch(program, Processes(2)).values)
    finally:
        sys.setprofile(None)

found = []
thread = threading.Thread(target=run)
thread.start()
thread.join()
assert found == [[("1", False, 0), ("1", False, 1)]], found
assert looks > 1000, looks
"""


@pytest.mark.parametrize("method", ["forkserver", "spawn"] if sys.platform == "linux" else ["spawn"])
def test_workers_are_born_without_a_change_that_another_thread_could_see(method, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(BIRTH)
    subprocess.run([sys.executable, str(script), method], check=True, timeout=120)


def test_others_who_start_processes_still_hand_over_their_main(monkeypatch, tmp_path):
    """A script's: this process may itself have been started with `-c`, as those of pytest-xdist are, and have none."""
    from multiprocess import spawn

    script = ModuleType("__main__")
    script.__file__ = str(tmp_path / "script.py")
    monkeypatch.setitem(sys.modules, "__main__", script)

    def handed_over(name):
        return spawn.get_preparation_data(name).get("init_main_from_path")

    with start.starting():
        assert handed_over("a") is None
        with ThreadPoolExecutor(1) as other:
            assert other.submit(handed_over, "b").result() == script.__file__
    assert handed_over("c") == script.__file__
