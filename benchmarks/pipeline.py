"""A pipeline of two stages on two worker processes: against one process, and against PyTorch's own pipelining.

cifar_net, batches of 128 in 8 micro-batches of 16, one_f_one_b, cut where this machine's times are most equal; PyTorch
has the same network, the same cut, Schedule1F1B over gloo, one thread each. Two stages and 8 micro-batches allow
2 * 8/9 = 1.78 of one process at most, which takes the batch whole.
"""

from functools import partial

from benchmarks.crews import Crew, missing
from benchmarks.peers import RATE
from benchmarks.scaling import WARM, measured, row, task
from dlmini import SGD, Grid, Processes, Recipe, Split, launch, one_f_one_b
from dlmini.events import Round
from dlmini.loop import program

NETWORK, BATCH, MICROS, ROUNDS = "cifar_net", 128, 8, 8
ONE, TORCH = (1.5, 1.7), (2.0, 3.0)  # floor and aim: against one process, and against PyTorch


def seconds(what, workers: int) -> float:
    """Of a round, by the clock of the slower worker."""
    recipe = Recipe(optimizer=SGD(RATE), rounds=WARM + ROUNDS)
    events = launch(program, on=Processes(workers), args=(what, recipe)).events
    ends = {(event.rank, event.t): event.at for event in events if isinstance(event, Round)}
    return max(ends[rank, WARM + ROUNDS - 1] - ends[rank, WARM - 1] for rank in range(workers)) / ROUNDS


def rows() -> list[dict]:
    plain = task(NETWORK, BATCH)
    split = Split(plain, Grid(pipe=2), one_f_one_b, MICROS, "measured")
    crew = None if missing("pipelining") else Crew("pipelining", 2)
    contest = {"two": partial(seconds, split, 2), "one": partial(seconds, plain, 1)}
    if crew:
        contest["torch"] = partial(crew.seconds, (NETWORK, BATCH, MICROS, split.cuts[0]), ROUNDS)
    found = measured(contest)
    if crew:
        crew.close()

    def speed(which):
        return f"{BATCH / found[which]:,.0f} images/s"

    name = f"{NETWORK} b{BATCH}, cut before layer {split.cuts[0]}, {MICROS} micro-batches"
    table = [row(f"{name}: 2 stages vs 1 process", speed("two"), speed("one"), found["one"] / found["two"], ONE)]
    if crew:
        ratio = found["torch"] / found["two"]
        table.append(row(f"{name}: 2 stages vs torch pipelining", speed("two"), speed("torch"), ratio, TORCH))
    return table
