"""Lesson 11: the game. Choose a plan for three networks; what was chosen is played, and scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dlmini.comm.network import Link, Medium, Network, Switch
from dlmini.lessons.composing.plans import choose_plan
from dlmini.lessons.composing.runs import GRADIENT, Trained, repriced
from dlmini.lessons.composing.winners import plain
from dlmini.lessons.student_code import own

EXERCISE = "11_composing"

STEPS = 256  # the budgets below are for curves of so many steps; shorter ones have as much less


class Job(NamedTuple):
    """A network, seconds, and megabytes that all workers may send together."""

    network: Network
    deadline: float
    megabytes: float


JOBS = {
    "a ship, by satellite": Job(Switch(Link(0.3, 1e6)), 20.0, 150.0),
    "a school's old Wi-Fi": Job(Medium(Link(1e-3, 5e6)), 9.0, 40.0),
    "a rack of its own": Job(Switch(Link(5e-6, 3e9)), 1.05, 1000.0),
}


class Played(NamedTuple):
    """One network: what was chosen, what it cost, what was allowed, and the best that was possible."""

    network: str
    plan: str
    steps: int
    accuracy: float
    best: float
    seconds: float
    deadline: float
    megabytes: float
    budget: float

    @property
    def points(self) -> int:
        """3: within a point of the best; 2: within five; 1: the budgets were kept; 0: they were not."""
        if self.seconds > self.deadline or self.megabytes > self.budget:
            return 0
        behind = self.best - self.accuracy
        return 3 if behind <= 0.01 else 2 if behind <= 0.05 else 1

    def __str__(self) -> str:
        kept = f"{self.seconds:.4g} of {self.deadline:.4g} s, {self.megabytes:.4g} of {self.budget:.4g} MB"
        right = f"{self.accuracy:.1%} (best possible {self.best:.1%})"
        return f"{self.network}: {self.plan}, {self.steps} steps\n    {right}, {kept}; points: {self.points}"


def mine() -> tuple[Callable, str]:
    """The student's choose_plan, or the library's; and a sentence that says whose it is."""
    return own(EXERCISE, "choose_plan", choose_plan, needs=("traffic", "run_seconds"))


def asked(network: Network) -> dict:
    """A network as the exercise wants it."""
    link = network.link
    return {"latency": link.latency, "bandwidth": link.bandwidth, "shared": isinstance(network, Medium)}


def play(choose: Callable, runs: Mapping[object, Trained], jobs: Mapping[str, Job] = JOBS) -> list[Played]:
    """Three rounds of the game: choose(plans, network, workers, size, step, deadline, megabytes) -> (name, steps)."""
    by_name = {run.row.label.strip(): run for run in runs.values()}
    return [one(choose, by_name, name, job) for name, job in jobs.items()]


def one(choose: Callable, runs: Mapping[str, Trained], name: str, job: Job) -> Played:
    some = next(iter(runs.values()))
    share = some.curve[-1][0] / STEPS
    deadline, budget = share * job.deadline, share * job.megabytes
    plans = [plain(run) for run in runs.values()]
    plan, steps = choose(plans, asked(job.network), some.said.shape[1], some.size, GRADIENT, deadline, budget)
    found = {(key, n): (a, *cost) for key, run in runs.items() for n, a, cost in costs(run, job.network)}
    if (plan, steps) not in found:
        raise ValueError(f"choose_plan gave {(plan, steps)!r}; it must be the name of a plan and steps of its curve")
    best = max((a for a, s, m in found.values() if s <= deadline and m <= budget), default=0.0)
    accuracy, seconds, megabytes = found[plan, steps]
    return Played(name, plan, int(steps), accuracy, best, seconds, deadline, megabytes, budget)


def tested(played: list[Played], runs: Mapping[object, Trained], task) -> dict[str, tuple[float, float]]:
    """Of every plan that was chosen: its accuracy at the end on the images held back, and on those of `task`."""
    by_name = {run.row.label.strip(): run for run in runs.values()}
    chosen = {one.plan: by_name[one.plan] for one in played}
    return {name: (run.row.accuracy, task.evaluate(run.weights)["accuracy"]) for name, run in chosen.items()}


def costs(run: Trained, network: Network):
    """(steps, accuracy, (seconds, megabytes)) of every point of the curve, as a share of the whole run, played."""
    row, last = repriced(run, network), run.curve[-1][0]
    for steps, accuracy in run.curve:
        yield steps, accuracy, (steps / last * row.seconds, steps / last * row.megabytes)


def always(number: int) -> Callable:
    """Somebody who does not look at the network: this configuration, to the end."""

    def choose(plans, *_):
        plan = next(plan for plan in plans if plan["name"].startswith(f"{number} "))
        return plan["name"], plan["curve"][-1][0]

    return choose
