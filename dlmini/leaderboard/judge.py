"""One entry in one world: the library's own training, with the entry's voice in each rank; then what counts of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from functools import partial

import numpy as np

from dlmini.comm.errors import CommError
from dlmini.events import Fault
from dlmini.grade.reading.names import printable
from dlmini.leaderboard.books import Books
from dlmini.leaderboard.own_pieces import SAY, Voice
from dlmini.leaderboard.plan import encoding_seconds, read_plan
from dlmini.leaderboard.voices import Near, Remote, Unfit
from dlmini.leaderboard.worlds import World
from dlmini.outcome import Outcome
from dlmini.run import train
from dlmini.sim.simulated import Simulated

FIRST = 0.1  # accuracy of somebody who has learned nothing: one of ten classes
LONGEST_WHY = 400  # characters


@dataclass(frozen=True)
class Look:
    """After so many seconds, bytes and so much money: this accuracy of worker 0's weights."""

    seconds: float
    megabytes: float
    money: float
    accuracy: float
    counts: bool


@dataclass(frozen=True)
class Trial:
    """What an entry came to in a world. why: a sentence, if something went wrong; legend: the recipe."""

    world: str
    seed: int
    legend: str = ""
    looks: tuple[Look, ...] = ()
    why: str = ""
    terms: dict = field(default_factory=dict, repr=False)
    broken: bool = False  # the judge's own side failed: nobody's fault, to be judged again

    @property
    def counted(self) -> Look:
        """The last look within the budget; at the start nothing is used and nothing is known."""
        within = [look for look in self.looks if look.counts]
        return within[-1] if within else Look(0.0, 0.0, 0.0, FIRST, True)

    @property
    def accuracy(self) -> float:
        return self.counted.accuracy

    def as_dict(self) -> dict:
        return asdict(self) | {"accuracy": self.accuracy}


@dataclass(frozen=True)
class Spoken:
    """A simulated place whose ranks can call an entry's functions, each by a voice of its own."""

    inner: Simulated
    voices: object
    order: np.ndarray  # in which an entry is shown the numbers of an update
    books: Books = field(default_factory=Books)
    virtual = True

    @property
    def size(self) -> int:
        return self.inner.size

    def run(self, program, args=(), listen=None, control=None, may_die=(), may_return=()):
        going = self.inner.open(self._given_voice(program), args, listen, control, may_die, may_return)
        self.books.open(going.engine)
        return going.run()

    def after(self, seconds: float) -> Spoken:
        return replace(self, inner=self.inner.after(seconds))

    def _given_voice(self, program):
        def main(comm, *args):
            SAY.set(Voice(partial(self.voices.call, comm.rank), self.order))
            return program(comm, *args)

        return main


MOST_SERVERS = 2  # machines beside the workers


def judge(source: str, name: str, world: World, sandbox) -> Trial:
    """In sandboxes: one process for each rank, and one that is nobody's."""
    count = world.terms.workers + MOST_SERVERS + 1
    return tried(Remote(source, name, sandbox, count), world)


def rehearse(module, world: World) -> Trial:
    """The same of one's own file, in this process."""
    return tried(Near(module), world)


def tried(voices, world: World) -> Trial:
    """The trial, whatever happens in it."""
    start = Trial(world.kind, world.seed, terms=world.terms.as_dict())
    nobody = world.terms.workers + MOST_SERVERS
    try:
        wanted = voices.call(nobody, "recipe", world.terms.as_dict())
        recipe = read_plan(wanted, world.terms, world.seed, voices, nobody)
        if recipe.topology.servers > MOST_SERVERS:
            asked = f"recipe asks for {recipe.topology.servers} servers"
            raise Unfit(f"{asked}; there are {MOST_SERVERS} machines for them")
        return run(voices, recipe, world, replace(start, legend=legend(recipe)))
    except Unfit as error:
        return replace(start, why=sentence(str(error)))
    finally:
        voices.close()


def run(voices, recipe, world: World, start: Trial) -> Trial:
    size = world.terms.workers + recipe.topology.servers
    cost = {"encode": encoding_seconds(recipe, world.terms.numbers)}
    place = Spoken(Simulated(size, replace(world.on, seconds=cost), seed=world.seed), voices, world.order)
    try:
        going = train(world.task, recipe, place)
    except (ValueError, TypeError) as error:
        raise Unfit(f"recipe: {error}") from error
    try:
        why = faults(going.result())
    except (Unfit, CommError, FloatingPointError, ValueError) as error:
        why = f"it ended early: {next(iter(str(cause(error)).splitlines()), type(error).__name__)}"
    return replace(start, looks=looks(going, place.books, size, world.terms), why=sentence(why))


def cause(error: BaseException) -> BaseException:
    """What an entry did, where the run only says that a rank has failed."""
    found = error
    while found is not None and not isinstance(found, Unfit):
        found = found.__cause__ or found.__context__
    return found or error


def sentence(text: str) -> str:
    """What may be shown of what an entry has a part in: one short line, and nothing that moves a terminal's cursor."""
    return printable(" ".join(text.split()))[:LONGEST_WHY]


def faults(outcome: Outcome) -> str:
    """Who died on the way, and was done without."""
    said = [event.text for event in outcome.events if isinstance(event, Fault)]
    return said[0].splitlines()[0] if said else ""


def looks(going, books: Books, machines: int, terms) -> tuple[Look, ...]:
    """Every look at the test set with what had been used by then; a budget that is used up stays so. After a run was
    ended nobody can tell what a later look would have cost."""
    found, open_, until = [], True, books.whole_until()
    measured = [one for one in going.looks.measured if one.at <= until]
    for seen, nbytes in zip(measured, books.sent_by([one.at for one in measured]), strict=True):
        open_ = open_ and terms.affords(machines, seen.at, nbytes) and math.isfinite(seen.accuracy)
        money = terms.price(machines, seen.at, nbytes)
        found.append(Look(seen.at, nbytes / 1e6, money, seen.accuracy, open_))
    return tuple(found)


def legend(recipe) -> str:
    return f"{recipe.sync!r}, {recipe.topology!r}, {recipe.compression!r}, {recipe.optimizer!r}, {recipe.rounds} rounds"
