"""A training that goes on now, as a dashboard sees it: what has happened, how to hold it, how to break it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dlmini.comm.control import Control
from dlmini.comm.network import Network
from dlmini.recipe import Recipe
from dlmini.running import Run
from dlmini.show.board import Board
from dlmini.show.units import BYTES, said
from dlmini.task import peers
from dlmini.topology import AllReduce


class Begins:
    """What begins a run of what the drop-downs say: `laid_out` makes a recipe and a place of it."""

    invitation, doing = "Choose, and press Start.", "Training"

    def begun(self, where: str, slow: dict[int, float], **pieces) -> tuple[LiveRun, Board, list]:
        """A run that has begun, its board, and what may disappoint, as sentences."""
        recipe, on = self.laid_out(where, **pieces)
        run, size = LiveRun(self.task, recipe, on, slow, real_time=where == "processes"), on.size
        doubts = recipe.doubts(peers(self.task, size, recipe), self.task)
        return run, Board(size, recipe.workers(size), recipe.rounds, recipe.others(size), recipe.teller(size)), doubts

    def warm(self, where: str, slow: dict[int, float], **pieces) -> None:
        """One round that nobody waits for: ranks are born, and all load what they need."""
        recipe, on = self.laid_out(where, **pieces)
        Run(self.task, replace(recipe, rounds=1), on).result()

    def laid_out(self, where: str, **pieces) -> tuple:
        raise NotImplementedError


@dataclass(frozen=True)
class Plan(Begins):
    """What all runs of a dashboard have in common."""

    task: object
    optimizer: object
    steps: int = 400  # of each worker in a run
    looks: int = 20  # at the test set during a run
    seed: int = 0

    def laid_out(self, where: str, sync, topology, compression, workers: int, network) -> tuple[Recipe, object]:
        recipe = Recipe(sync, topology, compression, self.optimizer, seed=self.seed).lasting(self.steps)
        look, differ = max(1, recipe.rounds // self.looks), not isinstance(topology, AllReduce)
        return replace(recipe, evaluate_every=look, all_workers=differ), place(
            where, workers + topology.servers, network
        )


@dataclass(frozen=True)
class Portioned(Begins):
    """The same of a Sandblaster: what the drop-downs do not say is as in `method`."""

    task: object
    method: object
    looks: int = 20  # at the test set during a run

    def laid_out(self, where: str, workers: int, network, **pieces) -> tuple:
        look = max(1, self.method.rounds // self.looks)
        recipe = replace(self.method, evaluate_every=look, checkpoint_every=0, **pieces)
        return recipe, place(where, workers + recipe.beside, network)


def place(where: str, ranks: int, network: Network | None):
    """Where ranks live: `processes` of this machine, or `simulated`."""
    if where == "simulated":
        from dlmini.sim import Simulated

        return Simulated(ranks, network)
    from dlmini.comm.processes import Processes

    return Processes(ranks, network=network)


class LiveRun:
    """`events` so far; `over`: has it ended? Orders go through its `control`."""

    def __init__(self, task, recipe: Recipe, on, slow: dict[int, float], real_time: bool = True):
        self.control, self.killed, self.outcome, self.real_time = Control(on.size), set(), None, real_time
        for rank, factor in slow.items():
            self.control.slow(rank, factor)
        self.run = Run(task, recipe, on, control=self.control)  # not `train`: a thread must not print warnings
        self.pause, self.resume, self.step = self.control.pause, self.control.resume, self.control.step

    @property
    def events(self) -> list:
        return self.run.events

    def since(self, place: int) -> tuple[list, int]:
        """Events from a place on, and the next place."""
        return self.run.history.since(place)

    @property
    def over(self) -> bool:
        return self.run.over

    def stop(self) -> None:
        self.run.stop()

    def kill(self, rank: int) -> None:
        self.control.kill(rank)
        self.killed.add(rank)

    def trouble(self) -> str:
        """Who waits for whom at a cut link, as a sentence; empty if nobody does."""
        waiting = [(rank, source) for rank, source in self.control.waiting() if rank not in self.run.gone]
        waits = [f"rank {rank} waits for rank {source}" for rank, source in waiting]
        return capital(f"{', '.join(waits)}: the link between them is cut.") if waits else ""

    def marks(self) -> dict[str, str]:
        """A word beside the bar of each rank that something was done to."""
        found = {rank: f"{factor:g} × slower" for rank, factor in enumerate(self.control.factor) if factor > 1}
        for a, b in self.control.cut_links():
            found |= {a: f"cut off from {b}", b: f"cut off from {a}"}
        found |= dict.fromkeys(self.run.gone, "gone") | dict.fromkeys(self.killed, "killed")
        return {str(rank): word for rank, word in found.items()}

    def verdict(self) -> tuple[str, str]:
        """How it ended: (good, quiet or bad; a sentence)."""
        try:
            self.outcome = self.run.result()
        except Exception as error:  # whatever a rank raised: it is shown, and the next run may do better
            return "bad", self._blame(error)
        if self.outcome.stopped:
            return "quiet", f"Ended early: {self.outcome.stopped}. Start begins a new run, drawn over this one."
        count = self.outcome.messages
        traffic = f"{said(self.outcome.nbytes, BYTES)} in {count:,} messages" if count else "without a message"
        done = f"Done: {self.outcome.accuracy:.1%} right after {said(self.outcome.seconds)}, {traffic}."
        lost = ", ".join(f"rank {rank}" for rank in self.outcome.gone)
        return "good", f"{done} The others went on without {lost}." if lost else done

    def _blame(self, error: Exception) -> str:
        if not self.killed:
            return sentence(error)
        first, rank = sentence(error).partition(";")[0], getattr(error, "rank", max(self.killed))
        before = "" if f"ank {rank} was" in first else f"Rank {rank} was killed; "
        if before and first.startswith(("Rank ", "The ", "Nobody ")):  # it goes on after a semicolon
            first = first[0].lower() + first[1:]
        why = capital(self.run.lesson(error)) or "The others cannot go on without it"
        return f"{before}{first}. {why}. Start begins a new run."


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sentence(error: Exception) -> str:
    """What an exception says, in one line."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return capital(lines[0])
