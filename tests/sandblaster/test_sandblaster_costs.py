"""What the formulas of costs.py say is what the books and the clock say."""

from math import inf

import numpy as np
import pytest
from sandblaster_tasks import Bowl

from dlmini import Cluster, Sandblaster, Simulated
from dlmini.comm import Link, Switch
from dlmini.events import Portion, Round
from dlmini.sandblaster.costs import (
    direction_messages,
    evaluation_messages,
    evaluation_seconds,
    iteration_messages,
    tail_share,
)
from dlmini.sandblaster.program import program

LATENCY = 0.01


def run(task, recipe, replicas, **cluster):
    size = replicas + recipe.shards + 1
    return Simulated(size, Cluster(**cluster)).run(program, (task, recipe), may_die=range(replicas))


def evaluations(events):
    """Round -> how many evaluations it took; the very first one is of round -1."""
    seen = {event.number: event.t for event in events if isinstance(event, Portion)}
    counts = {}
    for number, t in seen.items():
        key = -1 if number == 1 else t
        counts[key] = counts.get(key, 0) + 1
    return counts


@pytest.mark.parametrize("form", ["dots", "two_loop"])
@pytest.mark.parametrize(("replicas", "shards", "portions"), [(1, 1, 4), (3, 1, 10), (4, 3, 9)])
def test_messages_of_a_run_equal_the_formula(replicas, shards, portions, form):
    rounds, history = 9, 4
    recipe = Sandblaster(history, portions, backup=False, shards=shards, form=form, rounds=rounds, tolerance=0)
    results = run(Bowl(size=30), recipe, replicas, seconds={"gradient": 0.01})
    counts = evaluations(results.events)
    expected = evaluation_messages(portions, shards, replicas) + 2 * shards  # the first gradient, and its square
    for t in range(rounds):
        expected += iteration_messages(portions, shards, replicas, counts[t], min(t, history), form)
    expected += shards  # to show the last weights
    expected += replicas + (replicas + shards) + replicas * (shards + 1) + shards  # hello; end; bye
    assert results.books.total().messages == expected


def test_copies_that_come_too_late_are_dropped_in_silence():
    recipe = Sandblaster(portions=12, rounds=1, tolerance=0)
    results = run(Bowl(size=30), recipe, 4, seconds={"gradient": 0.01}, speed={1: 0.1})
    events = [event for event in results.events if isinstance(event, Portion)]
    copies, counts = sum(event.what == "copied" for event in events), evaluations(events)
    assert copies > 0
    fetched = {(event.number, event.replica) for event in events if event.what in ("handed", "copied")}
    base = sum(counts.values()) * evaluation_messages(12, 1, 0) + 2 * len(fetched)
    after = 2 + 2 + direction_messages(1, 0, "dots") + 1  # squares, the step, a direction, the look
    ends = 4 + (4 + 1) + 4 * 2 + 1
    assert results.books.total().messages == base + copies * 3 + after + ends


def test_bytes_at_the_coordinator_do_not_grow_with_the_weights():
    def traffic(size):
        results = run(Bowl(size=size), Sandblaster(portions=8, shards=2, rounds=12, tolerance=0), 3)
        last = 3 + 2
        mine = [entry for entry in results.entries if last in (entry.source, entry.dest)]
        others = [entry for entry in results.entries if last not in (entry.source, entry.dest)]
        return [sum(entry.nbytes for entry in some) for some in (mine, others)]

    (few, little), (many, much) = traffic(12), traffic(12_000)
    assert many == few
    assert much > 100 * little


def starts(events):
    """When each evaluation began: at its first job."""
    found = {}
    for event in events:
        if isinstance(event, Portion):
            found.setdefault(event.number, event.at)
    return [found[number] for number in sorted(found)]


@pytest.mark.parametrize("backup", [False, True])
@pytest.mark.parametrize("portions", [12, 20, 40, 41, 64, 200])
def test_with_one_slow_replica_every_evaluation_takes_what_the_formula_says(portions, backup):
    replicas, slower = 5, 10.0
    recipe = Sandblaster(portions=portions, backup=backup, shards=2, rounds=6, tolerance=0)
    place = {"network": Switch(Link(LATENCY, inf)), "seconds": {"gradient": 1.0}, "speed": {2: 1 / slower}}
    results = run(Bowl(rows=200, batch=200), recipe, replicas, **place)
    begun, late, expected = starts(results.events), 0.0, LATENCY  # everybody says hello first
    ends = [event.at for event in results.events if isinstance(event, Round) and event.rank == replicas + 2]
    for number, begin in enumerate(begun):
        assert begin == pytest.approx(expected, abs=1e-9), f"evaluation {number}"
        seconds, late = evaluation_seconds(portions, replicas, 1.0, slower, LATENCY, backup, late)
        expected += seconds
        if number == 0 or any(expected < end < expected + 3 * LATENCY for end in ends):
            expected, late = expected + 2 * LATENCY, max(0.0, late - 2 * LATENCY)  # squares, or the step's products


def test_copies_pay_as_long_as_portions_are_few():
    """The gain is at most the tail, and vanishes with ever smaller portions of the same work."""
    gains = []
    for portions in (15, 50, 150, 500, 1500):
        waited, copied = (
            evaluation_seconds(portions, 5, 100 / portions, 10.0, 0.0, backup) for backup in (False, True)
        )
        gains.append(1 - copied.seconds / waited.seconds)
        assert 0 <= gains[-1] <= tail_share(portions, 5, 10.0)
    assert gains[0] > 0.5
    assert gains[-1] < 0.02


def test_equal_replicas_are_never_copied():
    results = run(
        Bowl(rows=60), Sandblaster(portions=30, rounds=5, tolerance=0), 4, seconds={"gradient": 0.01}, jitter=0.2
    )
    assert all(event.what in ("handed", "counted") for event in results.events if isinstance(event, Portion))


def test_a_replica_gets_the_portions_whose_data_it_has():
    """After the first evaluation nothing is loaded again, if all are equally fast."""
    loads = []

    class Counted(Bowl):
        def batches(self, shard, of, seed, skip=0):
            loads.append(shard)
            return super().batches(shard, of, seed, skip)

    run(Counted(), Sandblaster(portions=12, rounds=6, tolerance=0), 4, seconds={"gradient": 0.01})
    assert sorted(loads) == list(range(12))


def test_formulas_refuse_what_they_do_not_cover():
    with pytest.raises(ValueError, match="portions"):
        evaluation_seconds(3, 5, 1.0)
    assert np.isfinite(evaluation_seconds(12, 2, 1.0).seconds)
