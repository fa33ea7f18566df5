"""distbelief.md and its pictures: what was found, beside what the report and Dean et al. say."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import inf, isinf
from pathlib import Path
from statistics import median

from dlmini import files
from dlmini.studies.classroom.report import lines
from dlmini.studies.distbelief import scaling
from dlmini.studies.distbelief.machines import CARD, JITTER, SECONDS, SPEEDS
from dlmini.studies.distbelief.methods import ADAGRAD, ALONE, DOWNPOUR, GRAPHICS, SANDBLASTER, Form, Method
from dlmini.studies.distbelief.published import (
    ALONE_ON,
    BEST,
    CLAIMS,
    DIFFERENCES,
    GAIN,
    LARGEST,
    LARGEST_GAIN,
    READING,
    REPLICAS,
    TARGET,
)
from dlmini.studies.distbelief.racing import Choice, Race
from dlmini.studies.distbelief.scaling import Point


@dataclass
class Found:
    """What was found; what was not asked for is empty."""

    form: Form
    choices: dict[tuple[str, int], Choice] = field(default_factory=dict)
    first: list[Race] = field(default_factory=list)
    second: list[Race] = field(default_factory=list)
    full: list[Point] = field(default_factory=list)
    local: list[Point] = field(default_factory=list)
    real: list[Race] = field(default_factory=list)

    def seconds(self, method: Method, replicas: int) -> float:
        """To the target, the median of all seeds."""
        return median(race.seconds for race in self.second if (race.method, race.replicas) == (method, replicas))

    def trace(self, method: Method) -> list[tuple[int, float]]:
        """(machines, time to the target) in the second figure."""
        counts = sorted({race.replicas for race in self.second if race.method == method})
        return [(method.machines(n), self.seconds(method, n)) for n in counts]


def time(seconds: float) -> str:
    return "not reached" if isinf(seconds) else f"{seconds:.2f} s"


# ---- Dean et al.'s statements, asked of what we found: (whether it holds, the figures) ----


def alone_is_slowest(found: Found) -> tuple[bool, str]:
    few, many, sand = found.form.many
    others = [(DOWNPOUR, few), (ADAGRAD, few), (ADAGRAD, many), (SANDBLASTER, sand)]
    times = {f"{m.name}, {n}": found.seconds(m, n) for m, n in others}
    alone = found.seconds(ALONE, 1)
    told = "; ".join(f"{name}: {time(t)}" for name, t in times.items())
    return alone > max(times.values()), f"one machine {time(alone)}; {told}"


def adagrad_gains(found: Found) -> tuple[bool, str]:
    plain, rates = dict(found.trace(DOWNPOUR)), dict(found.trace(ADAGRAD))
    told = ", ".join(f"{time(plain[m])} → {time(rates[m])} on {m}" for m in plain)
    return all(rates[m] < plain[m] for m in plain), told


def sandblaster_beats_downpour(found: Found) -> tuple[bool, str]:
    few, _, sand = found.form.many
    ours, theirs = found.seconds(SANDBLASTER, sand), found.seconds(DOWNPOUR, few)
    return ours < theirs, f"{time(ours)} with {sand} replicas, {time(theirs)} with {few}"


def adagrad_is_fastest(found: Found) -> tuple[bool, str]:
    few, many, sand = found.form.many
    best, others = found.seconds(ADAGRAD, many), [(DOWNPOUR, few), (ADAGRAD, few), (SANDBLASTER, sand)]
    others = [found.seconds(m, n) for m, n in others]
    return best < min(others), f"{time(best)} with {many} replicas, the next one {time(min(others))}"


def machines_beat_the_card(found: Found) -> tuple[bool, str]:
    _, many, sand = found.form.many
    card, times = found.seconds(GRAPHICS, 1), (found.seconds(ADAGRAD, many), found.seconds(SANDBLASTER, sand))
    told = f"card {time(card)}, {', '.join(map(time, times))}; it moves with the assumed speed of {CARD:g}"
    return max(times) < card, told


def adagrad_is_best_for_its_money(found: Found) -> tuple[bool, str]:
    ours, rivals = found.trace(ADAGRAD), [found.trace(m) for m in (DOWNPOUR, SANDBLASTER)]
    within = [(machines, least(ours, machines), min(least(r, machines) for r in rivals)) for machines, _ in ours]
    told = ", ".join(f"up to {m}: {time(a)} against {time(b)}" for m, a, b in within)
    return all(a <= b for _, a, b in within), told


def sandblaster_scales(found: Found) -> tuple[bool, str]:
    trace = found.trace(SANDBLASTER)
    told = ", ".join(f"{m}: {time(s)}" for m, s in trace)
    return all(b < a for (_, a), (_, b) in pairwise(trace)), told


def least(trace: list[tuple[int, float]], machines: int) -> float:
    """The shortest time with at most so many machines."""
    return min((seconds for many, seconds in trace if many <= machines), default=inf)


QUESTIONS = (
    alone_is_slowest, adagrad_gains, sandblaster_beats_downpour, adagrad_is_fastest, machines_beat_the_card,
    adagrad_is_best_for_its_money, sandblaster_scales,
)  # fmt: skip
BY_NAME = {question.__name__: question for question in QUESTIONS}


# ---- tables ----


def claims(found: Found) -> str:
    rows = []
    for claim in CLAIMS:
        holds, told = BY_NAME[claim.holds](found)
        rows.append((claim.text, "yes" if holds else "**no**", told))
    return lines("Dean et al. | here | our figures", rows)


def search_table(found: Found) -> str:
    rows = [
        (choice.method.name, choice.replicas, choice.method.free, ", ".join(f"{v:g}" for v in choice.method.tried),
         f"{choice.value:g}" + (" (at the edge)" if choice.at_the_edge else ""), time(choice.best.seconds))
        for choice in found.choices.values()
    ]  # fmt: skip
    return lines("| replicas | number chosen | tried | best | its time on the rows held back", rows)


def race_table(races: list[Race], places: str = "machines") -> str:
    rows = [
        (r.method.name, r.replicas, r.method.machines(r.replicas), f"{r.method.free} {r.value:g}", r.seed,
         time(r.seconds), f"{max((look.accuracy for look in r.looks), default=0):.1%}", f"{r.accuracy:.1%}")
        for r in races
    ]  # fmt: skip
    return lines(f"| replicas | {places} | chosen | seed | time to the target | best accuracy | last", rows)


def scaling_text(found: Found) -> str:
    by, full, local = scaling.Machines(), scaling.FullyConnected(), scaling.LocallyConnected()
    parts = []
    for title, net, points in (("Fully connected", full, found.full), ("Locally connected", local, found.local)):
        rows = [(p.machines, *(f"{gain:.2f}" for gain in (p.reckoned, p.simulated, p.jittered))) for p in points]
        parts += [
            f"{title}, {net.weights / 1e6:,.0f} million weights: times as fast as one machine",
            lines("machines | reckoned | simulated | simulated, machines that vary", rows),
        ]
    moved = ", ".join(f"{b}: {scaling.best(full, b, by)}" for b in (1, 4, 16, 64))
    parts.append(
        f"Dean et al.: the speech network was fastest on {BEST} machines, x{GAIN:g}, and slower on more; the largest "
        f"image network gained more than x{LARGEST_GAIN:g} on {LARGEST}. Speeds, cables and examples in a step are not "
        f"in the paper. Here: {by}. The shape does not depend on them, the place does: fastest on so many machines "
        f"by examples in a step: {moved}. Four examples were chosen so that the place is near theirs: it confirms "
        "nothing. Locally connected networks gain more here than theirs did: our machines vary less than machines of a "
        "shared cluster, and their pooling and normalisation are left out."
    )
    return "\n\n".join(parts)


def setting(found: Found) -> str:
    times = ", ".join(f"{speed:g}" for speed in SPEEDS)
    return (
        f"{found.form}. A mini-batch takes {1000 * SECONDS:g} ms on an ordinary machine, more or less by "
        f"{JITTER:.0%}; replicas have speeds {times}, again and again; Gigabit Ethernet. The target is "
        f"{found.form.target:.0%} of the test rows. The graphics card is a simulated machine {CARD:g} times as fast: "
        "an assumption, so where its curve lies is no finding. Dean et al. compare "
        + ", ".join(f"{name} with {n}" for name, n in REPLICAS.items())
        + f" replicas and SGD with one, on {ALONE_ON} machines; they measure the time to {TARGET:.0%} of the frames of "
        "speech, a target that they call arbitrary."
    )


def text(found: Found) -> str:
    """distbelief.md."""
    parts = ["# DistBelief", setting(found)]
    if found.second:
        parts += ["## What Dean et al. say of the figure, and what we found", claims(found), READING]
    if found.first:
        parts += ["## Figure 1: accuracy against time", race_table(found.first)]
    if found.second:
        parts += ["## Figure 2: machines against time", race_table(found.second)]
    if found.real:
        parts += [
            "## On real processes of this machine",
            "Seconds are real, a mini-batch takes what it takes, and all share the cores that are here: so this shows "
            "that the same programs run, not what a cluster would gain.",
            race_table(found.real, "processes"),
        ]
    if found.choices:
        parts += ["## The search: five values each, on rows held back", search_table(found)]
    if found.full:
        parts += ["## One network on several machines", scaling_text(found)]
    parts += ["## Where the report and Dean et al. differ", lines("| report | Dean et al. | here", DIFFERENCES)]
    return "\n\n".join(parts)


def write(found: Found, folder: Path) -> Path:
    """Into a new folder: all of it, or nothing."""
    from dlmini.studies.distbelief.pictures import figures

    said = text(found).encode()
    contents = {"distbelief.md": lambda stream: stream.write(said)}
    contents |= {f"{name}.png": partial(figure.savefig, format="png") for name, figure in figures(found).items()}
    return files.write_folder(folder, contents)
