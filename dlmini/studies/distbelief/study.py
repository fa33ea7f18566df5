"""The whole experiment: the search, the two figures, and one network on several machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dlmini.studies.classroom.many_runs import spread
from dlmini.studies.distbelief import scaling
from dlmini.studies.distbelief.methods import ADAGRAD, ALONE, DOWNPOUR, GRAPHICS, SANDBLASTER, Form, Method
from dlmini.studies.distbelief.racing import Choice, Race, race, search
from dlmini.studies.distbelief.report import Found

WORLDS = ("reckoned", "simulated", "processes")
PAIR = 2  # replicas on real processes
FULL, LOCAL = (1, 2, 4, 8, 16, 32), (1, 4, 9, 16, 25, 36, 49, 64, 81, 100)  # machines of one replica
EXAMPLES, JITTER, STEPS = 4, 0.3, 3


def study(
    form: Form,
    worlds: Iterable[str] = WORLDS,
    crew: int = 1,
    say: Callable[[str], None] = print,
    into: Found | None = None,
) -> Found:
    """Everything that is asked for; `say` hears a line now and then. crew: races at a time; into: holds what is done,
    for who ends it early."""
    found, worlds = into or Found(form), {*worlds}
    if "reckoned" in worlds:
        say("reckoned and simulated: one network on several machines")
        found.full, found.local = (gains_of(net, many) for net, many in shapes())
    if worlds & {"simulated", "processes"}:
        found.choices = choices_of(form, "simulated" in worlds, crew, say)
    if "simulated" in worlds:
        say(f"the first figure: {form.seconds:g} virtual seconds each")
        found.first = spread(first(form, found.choices), crew, tell(say))
        say(f"the second figure: until {form.target:.0%}")
        found.second = spread(second(form, found.choices), crew, tell(say))
    if "processes" in worlds:
        say(f"real processes, {form.real:g} seconds each")
        found.real = spread(on_processes(form, found.choices), 1, tell(say))
    return found


def tell(say: Callable[[str], None]) -> Callable[[Race], None]:
    return lambda one: say(f"  {one.name}, {one.method.free} {one.value:g}: {one.seconds:.2f} s, {one.accuracy:.1%}")


def shapes() -> list[tuple]:
    return [(scaling.FullyConnected(), FULL), (scaling.LocallyConnected(), LOCAL)]


def gains_of(net, many: tuple[int, ...]) -> list[scaling.Point]:
    return scaling.gains(net, many, EXAMPLES, scaling.Machines(), JITTER, STEPS)


def choices_of(form: Form, everywhere: bool, crew: int, say: Callable[[str], None]) -> dict[tuple[str, int], Choice]:
    """For one machine, for Downpour with every number of replicas; for Sandblaster once, with the fewest: its path is
    always the same, but for rounding."""
    counts = sorted({PAIR, *form.replicas, *form.many[:2]}) if everywhere else [PAIR]
    asked = [(ALONE, 1), (SANDBLASTER, min(form.sand)), *((m, n) for n in counts for m in (DOWNPOUR, ADAGRAD))]
    say(f"the search: {len(asked)} times five values")
    found = spread([(search, form, *one) for one in reversed(asked)], crew, tell_choice(say))
    return {(choice.method.name, choice.replicas): choice for choice in reversed(found)}


def tell_choice(say: Callable[[str], None]) -> Callable[[Choice], None]:
    return lambda one: say(f"  {one.best.name}: {one.method.free} {one.value:g}")


def value_of(choices: dict[tuple[str, int], Choice], method: Method, replicas: int) -> float:
    """What the search found; Sandblaster's holds for any number of replicas, the card's is that of one machine."""
    name = ALONE.name if method is GRAPHICS else method.name
    if method.scales:
        return choices[name, replicas].value
    return next(choice.value for (known, _), choice in choices.items() if known == name)


def first(form: Form, choices) -> list[tuple]:
    """The races of the first figure, as jobs."""
    few, many, sand = form.many
    lanes = [(ALONE, 1), (GRAPHICS, 1), (DOWNPOUR, few), (ADAGRAD, few), (ADAGRAD, many), (SANDBLASTER, sand)]
    return [(race, form, m, value_of(choices, m, n), n, form.seeds[0]) for m, n in lanes]


def second(form: Form, choices) -> list[tuple]:
    """Those of the second, each with all seeds."""
    lanes = [(ALONE, 1), (GRAPHICS, 1), *((m, n) for m in (DOWNPOUR, ADAGRAD) for n in form.replicas)]
    lanes += [(SANDBLASTER, n) for n in form.sand]
    return [(race, form, m, value_of(choices, m, n), n, seed, True) for m, n in lanes for seed in form.seeds]


def on_processes(form: Form, choices) -> list[tuple]:
    """Two replicas each, with what the search found for two simulated ones."""
    lanes = [(ALONE, 1), (DOWNPOUR, PAIR), (ADAGRAD, PAIR), (SANDBLASTER, PAIR)]
    return [(race, form, m, value_of(choices, m, n), n, 0, False, False, True) for m, n in lanes]
