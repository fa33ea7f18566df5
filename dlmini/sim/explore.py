"""Exploring legal orders: the same program under many seeds, until one fails; and replaying that one.

A seed decides ties between messages and, from the second quarter of the seeds on, how late messages are and how long
local work takes. Every order that comes up could happen on real machines; the same seed always brings the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from dlmini.checks import real, refuse, truth, whole
from dlmini.comm.launch import check_program
from dlmini.events import Event
from dlmini.sim.cluster import Cluster
from dlmini.sim.simulated import Record, SimResults, Simulated, Simulation


@dataclass
class Recording:
    """A run with everything kept: its messages, its events, its results or the error that ended it."""

    on: Simulated
    log: list[Record] = field(repr=False)
    events: list[Event] = field(repr=False)
    results: SimResults | None = None
    error: Exception | None = None

    def __str__(self) -> str:
        said = (
            f"{type(self.error).__name__}: {self.error}"
            if self.error
            else f"finished after {self.results.seconds:.6g} s"
        )
        last = [f"  {record}" for record in self.log[-10:]]
        return "\n".join([f"seed {self.on.seed}: {said}", f"the last {len(last)} of {len(self.log)} messages:", *last])


def replay(program: Callable, on: Simulated, args: tuple = (), seed: int | None = None) -> Recording:
    """Run once more, keep everything. The same seed gives the same run, bit for bit."""
    check_place(on), check_program(program, args)
    on = replace(on, log=True, spans=True, seed=on.seed if seed is None else seed)
    run, results, error = Simulation(on, program, args), None, None
    try:
        results = run.run()
    except Exception as found:
        error = found
    return Recording(on, run.log, run.events, results, error)


@dataclass
class Exploration:
    """How many seeds were tried, and the first that failed, with its trace."""

    tried: int
    seed: int | None = None
    error: Exception | None = None
    recording: Recording | None = None

    def __bool__(self) -> bool:
        """True if nothing failed."""
        return self.error is None

    def __str__(self) -> str:
        if self:
            return f"{self.tried} seeds tried, none failed"
        return (
            f"seed {self.seed} fails (the first of {self.tried} tried): {type(self.error).__name__}: {self.error}\n"
            f"{self.recording}\nagain: replay(program, {self.recording.on!r})"
        )


def explore(
    program: Callable,
    on: Simulated | None = None,
    seeds: int | Iterable[int] = 200,
    args: tuple = (),
    check: Callable[[SimResults], object] | None = None,
    same: bool = False,
    shake: float = 1.0,
) -> Exploration:
    """Run the program under many seeds, and return the first that fails.

    A run fails if it raises, if check(results) raises or returns False, or, with same=True, if its results differ from
    the first run's. `shake` is how much messages are late, in latencies, and compute times vary; 0: only ties.
    """
    on, seeds = check_place(Simulated(4) if on is None else on), seeds_of(seeds)
    check_program(program, args), real(shake, "shake", least=0), truth(same, "same")
    if check is not None and not callable(check):
        refuse(TypeError, "check", check, "a function of the results, which raises or returns False")
    first = None
    for tried, seed in enumerate(seeds, 1):
        shaken = _shaken(on, seed, shake if 4 * tried > len(seeds) else 0.0)
        try:
            results = shaken.run(program, args)
            first = first or results
            _judge(results, check, first if same else None)
        except Exception as error:
            return Exploration(tried, seed, error, replay(program, shaken, args))
    return Exploration(len(seeds))


def seeds_of(seeds) -> list[int]:
    """Seeds as given, or so many from 0."""
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable) or getattr(seeds, "shape", None) == ():
        return list(range(whole(seeds, "seeds", 1, hint="how many, or a row of them")))
    return [whole(seed, "a seed", 0) for seed in seeds]


def check_place(on) -> Simulated:
    if not isinstance(on, Simulated):
        refuse(TypeError, "on", on, "a Simulated(n): only virtual time can be run again with another order")
    return on


def _shaken(on: Simulated, seed: int, shake: float) -> Simulated:
    cluster = Cluster.of(on.cluster)
    return replace(
        on,
        seed=seed,
        cluster=replace(cluster, jitter=max(cluster.jitter, 0.3 * shake), link_jitter=max(cluster.link_jitter, shake)),
    )


def _judge(results: SimResults, check, first: SimResults | None) -> None:
    if check is not None and check(results) is False:
        raise AssertionError(f"check(results) is False for {results.values!r}")
    if first is not None and not equal(first.values, results.values):
        raise AssertionError(f"results depend on the order: {first.values!r} and {results.values!r}")


def equal(a, b) -> bool:
    """The same values, arrays bit for bit."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return type(b) is dict and a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    return bool(a == b)
