"""A pipeline of two stages on two worker processes: against one process, and against PyTorch's own pipelining.

8 micro-batches, one_f_one_b, cut where this machine's times are most equal; PyTorch has the same network, the same cut,
Schedule1F1B over gloo, one thread each. Two stages and 8 micro-batches allow 2 * 8/9 = 1.78 of one process at most,
which takes the batch whole. Goals are set for conv8, whose work can be halved, in batches of 512: micro-batches of 16
instead of 64 pictures cost a twelfth more work, and a hand-over more often. cifar_net's halves are equal in time, too,
but its large dense layer pays for every micro-batch: it reads a million weights and writes as many gradients, whether
for 16 rows or for 128.
"""

from functools import partial

from benchmarks.crews import Crew, missing
from benchmarks.peers import RATE
from benchmarks.scaling import WARM, measured, row, task
from dlmini import SGD, Grid, Processes, Recipe, Split, launch, one_f_one_b
from dlmini.events import Round
from dlmini.loop import program

MICROS = 8
ONE, TORCH = (1.5, 1.7), (2.0, 3.0)  # floor and aim: against one process, and against PyTorch
# pictures in a batch, rounds that are timed, goals
CASES = {"conv8": (512, 3, (ONE, TORCH)), "cifar_net": (128, 8, ((None, None), (None, None)))}


def seconds(what, workers: int, rounds: int) -> float:
    """Of a round, by the clock of the slower worker."""
    recipe = Recipe(optimizer=SGD(RATE), rounds=WARM + rounds)
    events = launch(program, on=Processes(workers), args=(what, recipe)).events
    ends = {(event.rank, event.t): event.at for event in events if isinstance(event, Round)}
    return max(ends[rank, WARM + rounds - 1] - ends[rank, WARM - 1] for rank in range(workers)) / rounds


def rows() -> list[dict]:
    crew = None if missing("pipelining") else Crew("pipelining", 2)
    table = [found for network, case in CASES.items() for found in case_rows(network, *case, crew)]
    if crew:
        crew.close()
    return table


def case_rows(network: str, batch: int, rounds: int, goals, crew: Crew | None) -> list[dict]:
    plain = task(network, batch)
    split = Split(plain, Grid(pipe=2), one_f_one_b, MICROS, "measured")
    contest = {"two": partial(seconds, split, 2, rounds), "one": partial(seconds, plain, 1, rounds)}
    if crew:
        contest["torch"] = partial(crew.seconds, (network, batch, MICROS, split.cuts[0]), rounds)
    found = measured(contest)

    def against(peer, said, goal):
        speeds = [f"{batch / found[which]:,.0f} images/s" for which in ("two", peer)]
        name = f"{network} b{batch}, cut before layer {split.cuts[0]}, {MICROS} micro-batches: 2 stages vs {said}"
        return row(name, *speeds, found[peer] / found["two"], goal)

    table = [against("one", "1 process", goals[0])]
    return [*table, against("torch", "torch pipelining", goals[1])] if crew else table
