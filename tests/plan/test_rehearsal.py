"""Programs rehearsed with ghosts: memory that grows is named with rank and line; what only comes and goes is not."""

import inspect

import pytest

from dlmini.comm.errors import CommError
from dlmini.comm.ghost import Ghost
from dlmini.plan import MemoryGrows, rehearse

RANKS = 64


def step(comm, gradient):
    """Four micro-batches there and back, and a sum."""
    kept = []
    for _ in range(4):
        kept.append(Ghost(10**7, "f2"))
        comm.compute("forward", None, flops=1e12)
    while kept:
        kept.pop()
        comm.compute("backward", None, flops=2e12)
    return comm.allreduce(gradient)


def losses_are_kept(comm, broken):
    weights, losses = Ghost(10**8, "f2"), []
    for _ in range(12):
        step(comm, weights)
        loss = Ghost(10**6, "f4")  # wrong
        if broken and comm.rank == 41:
            losses.append(loss)


def sums_are_kept(comm, broken):
    weights, seen = Ghost(10**6, "f2"), []
    for _ in range(20):
        comm.compute("gradient", None, flops=1e12)
        total = comm.allreduce(weights)  # wrong
        if broken:
            seen.append(total)


def nobody_receives(comm, broken):
    for number in range(20):
        comm.compute("gradient", None, flops=1e12)
        if broken and comm.rank == 7:
            comm.send(8, Ghost(10**6, "f4"), tag=number)  # wrong
        comm.allreduce(Ghost(10, "f4"))


def line_of(program) -> str:
    text, start = inspect.getsourcelines(program)
    at = next(i for i, line in enumerate(text) if line.rstrip().endswith("# wrong"))
    return f"{inspect.getsourcefile(program)}:{start + at}:"


@pytest.mark.parametrize(("program", "rank"), [(losses_are_kept, 41), (sums_are_kept, 0)])
def test_memory_that_grows_is_named_with_rank_and_line(program, rank):
    with pytest.raises(MemoryGrows, match=f"memory of rank {rank}\\b") as caught:
        rehearse(program, RANKS, (True,))
    assert caught.value.rank == rank
    assert caught.value.where.startswith(line_of(program))
    rehearse(program, RANKS, (False,))


def test_messages_that_nobody_receives_are_named():
    with pytest.raises(CommError) as caught:
        rehearse(nobody_receives, RANKS, (True,))
    assert line_of(nobody_receives) in str(caught.value)
    rehearse(nobody_receives, RANKS, (False,))


def test_a_rank_that_outgrows_its_device_is_stopped_at_once():
    def fat(comm):
        kept = []
        while True:
            kept.append(Ghost(10**9, "f4"))
            comm.barrier()

    with pytest.raises(MemoryGrows, match=r"rank \d+ holds 84.0 GB .* and has room for 80.0 GB"):
        rehearse(fat, 8)
    with pytest.raises(MemoryGrows, match=r"has room for 10\.0 GB"):
        rehearse(fat, 8, room=1e10)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_micro_batches_that_come_and_go_are_no_growth(steps):
    def fine(comm):
        weights = [Ghost(10**6, "f2") for _ in range(30)]
        for _ in range(steps):
            step(comm, weights[0])

    rehearse(fine, 4)


def test_ghosts_are_ordinary_again_afterwards():
    before = Ghost.__init__
    with pytest.raises(CommError):
        rehearse(lambda comm: comm.recv(1 - comm.rank), 2)
    assert Ghost.__init__ is before
    assert not hasattr(Ghost, "__del__")


def test_two_rehearsals_do_not_see_each_other():
    def outer(comm):
        if comm.rank == 0:
            rehearse(sums_are_kept, 2, (False,))
        comm.barrier()

    rehearse(outer, 2)


def test_flops_take_the_devices_time():
    found = rehearse(lambda comm: comm.compute("work", None, flops=312e12 * 0.7175), 1)
    assert found.seconds == pytest.approx(1.0)
