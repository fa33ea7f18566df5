"""Ten faulty programs on 1,024 ranks: each is found out, with the rank and the line; repaired, each runs through.

A program gets `broken`. The line that is wrong says `# wrong`; where a partner's line belongs to the diagnosis, that
one says `# partner`. Ghosts weigh as gradients would.
"""

import inspect
import re

import pytest

from dlmini import Simulated, launch, nvlink_island
from dlmini.comm.errors import CommError
from dlmini.comm.ghost import Ghost

RANKS = 1024
GRADIENT = Ghost(100 * RANKS, "f2")


def everybody_receives_first(comm, broken):
    """A ring in which nobody sends before it has received."""
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    if broken:
        comm.recv(left)  # wrong
        comm.send(right, GRADIENT)
    else:
        comm.send(right, GRADIENT)
        comm.recv(left)


def one_rank_sums_another_length(comm, broken):
    """A last batch that was not dropped; a layer that one rank has not frozen."""
    if broken and comm.rank == 700:
        comm.allreduce(Ghost(100 * RANKS + 1, "f2"))  # wrong
    else:
        comm.allreduce(GRADIENT)  # partner


def one_rank_calls_another_collective(comm, broken):
    if broken and comm.rank == 513:
        comm.reduce_scatter(GRADIENT)  # wrong
    else:
        comm.allreduce(GRADIENT)  # partner


def one_rank_has_another_order(comm, broken):
    """A checkpoint's barrier, on one rank behind the sum in place of before it."""
    if broken and comm.rank == 3:
        comm.allreduce(GRADIENT)  # wrong
        comm.barrier()
    else:
        comm.barrier()  # partner
        comm.allreduce(GRADIENT)


def one_rank_has_another_precision(comm, broken):
    if broken and comm.rank == 12:
        comm.allreduce(Ghost(100 * RANKS, "f4"))  # wrong
    else:
        comm.allreduce(GRADIENT)  # partner


def one_rank_asks_the_world_and_not_its_group(comm, broken):
    """A norm that is summed over all ranks, where the others sum it over their node."""
    first = comm.rank // 8 * 8
    node = comm.group(range(first, first + 8))
    if broken and comm.rank == 905:
        comm.allreduce(GRADIENT)  # wrong
    else:
        node.allreduce(GRADIENT)  # partner
        comm.allreduce(GRADIENT)


def one_rank_leaves_early(comm, broken):
    """Its data ended one batch before the others'."""
    for step in range(3):
        if broken and comm.rank == 77 and step == 2:
            return
        comm.allreduce(GRADIENT)  # partner


def one_rank_sends_by_another_tag(comm, broken):
    """Pairs exchange; the receiver waits for what has been sent under another name."""
    if comm.rank % 2 == 0:
        comm.send(comm.rank + 1, GRADIENT, tag=2 if broken and comm.rank == 600 else 1)  # wrong
    else:
        comm.recv(comm.rank - 1, tag=1)  # partner


def one_message_is_never_received(comm, broken):
    comm.send((comm.rank + 1) % comm.size, GRADIENT)
    comm.recv((comm.rank - 1) % comm.size)
    if broken and comm.rank == 250:
        comm.send(251, GRADIENT, tag=9)  # wrong


def one_stage_sends_the_wrong_way(comm, broken):
    """A pipeline's way back: stage 512 hands its gradient to the next stage in place of the one before."""
    if comm.rank < comm.size - 1:
        comm.recv(comm.rank + 1)  # partner
    if comm.rank:
        comm.send(513 if broken and comm.rank == 512 else comm.rank - 1, GRADIENT)  # wrong


FAULTS = {  # program: the ranks that must be named
    everybody_receives_first: (0, 1),
    one_rank_sums_another_length: (700,),
    one_rank_calls_another_collective: (513,),
    one_rank_has_another_order: (3,),
    one_rank_has_another_precision: (12,),
    one_rank_asks_the_world_and_not_its_group: (905,),
    one_rank_leaves_early: (77,),
    one_rank_sends_by_another_tag: (600, 601),
    one_message_is_never_received: (250, 251),
    one_stage_sends_the_wrong_way: (511, 512),
}


def lines_of(program, mark: str) -> list[str]:
    """file:line of every line of a program that bears a mark."""
    text, start = inspect.getsourcelines(program)
    file = inspect.getsourcefile(program)
    return [f"{file}:{start + i}:" for i, line in enumerate(text) if line.rstrip().endswith(f"# {mark}")]


@pytest.mark.parametrize("program", FAULTS, ids=lambda program: program.__name__)
def test_a_faulty_program_is_named_by_rank_and_line_and_runs_when_repaired(program):
    on = Simulated(RANKS, nvlink_island)
    with pytest.raises(CommError) as caught:
        launch(program, on, (True,))
    said = str(caught.value)
    for rank in FAULTS[program]:
        assert re.search(rf"\b{rank}\b", said), said
    marks = [m for m in ("wrong", "partner") if lines_of(program, m)]
    named = [mark for mark in marks if any(line in said for line in lines_of(program, mark))]
    assert named == marks, said
    launch(program, on, (False,))
