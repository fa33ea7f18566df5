"""The study's figures."""

from __future__ import annotations

from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, themed
from dlmini.show.paper import sheet
from dlmini.studies.volunteers.published import SUCCESS
from dlmini.studies.volunteers.sweeps import pace, results
from dlmini.volunteer.population import Story
from dlmini.volunteer.simulated_host import DAY, HOUR

CAUSE_COLOURS = {"memory": VERMILION, "disk": ORANGE, "away": BLUE, "still fetching": SKY, "left for good": BLACK}
CAUSE_COLOURS |= {"lie": PURPLE, "crash": GREY}


def reach(rows, ask) -> tuple[list, list]:
    """Means over the seeds, and how far the seeds lie below and above them: what `errorbar` draws."""
    found = [row.spread(ask) for row in rows]
    return [m for m, *_ in found], [[m - least for m, least, _ in found], [most - m for m, _, most in found]]


def figures(found) -> dict:
    drawn = {}
    if found.learned:
        drawn["accuracy"] = accuracy(found.learned)
    if found.container:
        drawn["delivery"] = delivery(found.vm, found.container)
    if found.deadlines:
        drawn["deadline"], drawn["quorum"] = deadline(found.deadlines), quorum(found.quorums)
    if found.sets:
        drawn["local_sets"], drawn["local_steps"] = (
            trade(found.sets, "units in an iteration"),
            trade(found.steps, "steps of a unit"),
        )
    return drawn


@themed
def accuracy(learned):
    """Accuracy over iterations."""
    figure, ax = sheet(9, 4.2)
    ax.plot([t for t, *_ in learned.looks], [a for *_, a in learned.looks], "o-", color=BLUE)
    ax.set(xlabel="iteration", ylabel="test accuracy", ylim=(0, 1))
    ax.yaxis.set_major_formatter(percent())
    return figure


@themed
def delivery(vm: Story, container: Story):
    """When hosts gave their first result, and how many units were done over time."""
    figure, (left, right) = sheet(12, 4.4, columns=2)
    for story, colour, dash in ((vm, BLUE, "-"), (container, VERMILION, "--")):
        first = sorted(one / HOUR for one in story.first_results)
        left.step(
            first, [(k + 1) / story.came for k in range(len(first))], dash, color=colour, label=story.delivery.name
        )
        at = [0.0, *(one.ended / DAY for one in story.iterations)]
        right.plot(at, range(len(at)), dash, color=colour, label=story.delivery.name)
    left.set(xscale="log", xlabel="hours after a host's first unit", ylabel="hosts with a first result", ylim=(0, 1))
    left.yaxis.set_major_formatter(percent())
    right.set(xlabel="days", ylabel="iterations done")
    right.set_ylim(bottom=0)
    left.legend()
    return figure


@themed
def deadline(rows):
    """The share of good results and the time of an iteration against the deadline; why results failed."""
    figure, (left, right) = sheet(12, 4.4, columns=2)
    hours, names = [row.value for row in rows], [*CAUSE_COLOURS]
    below = [0.0] * len(rows)
    for name in names:
        share, _ = reach(rows, lambda row, name=name: row.story.causes[name] / results(row))
        if any(share):
            left.bar(range(len(rows)), share, bottom=below, color=CAUSE_COLOURS[name], label=name)
            below = [a + b for a, b in zip(below, share, strict=True)]
    left.axhline(1 - SUCCESS, color=GREY, linestyle=":", label=f"published: {1 - SUCCESS:.1%}")
    left.set(xlabel="deadline, hours", ylabel="failed results")
    left.set_xticks(range(len(rows)), [f"{h:g}" for h in hours])
    left.yaxis.set_major_formatter(percent())
    left.legend()
    days, around = reach(rows, pace)
    right.errorbar(hours, days, around, fmt="o-", color=BLUE, capsize=3)
    right.set(xscale="log", xlabel="deadline, hours", ylabel="days of an iteration")
    right.set_xticks(hours, [f"{h:g}" for h in hours])
    right.minorticks_off()
    right.set_ylim(bottom=0)
    return figure


@themed
def quorum(rows):
    """Lies that were accepted, and results that were needed, by quorum and share of liars."""
    figure, (left, right) = sheet(12, 4.4, columns=2)
    for share, colour, mark in zip(
        sorted({row.value[1] for row in rows}), (GREEN, BLUE, VERMILION), "osv", strict=False
    ):
        chosen = [row for row in rows if row.value[1] == share]
        x = [row.value[0] for row in chosen]
        wrong, around = reach(chosen, lambda row: row.story.wrong / answered(row))
        left.errorbar(x, wrong, around, fmt=mark + "-", color=colour, capsize=3, label=f"{share:.0%} liars")
        needed, around = reach(chosen, lambda row: results(row) / answered(row))
        right.errorbar(x, needed, around, fmt=mark + "-", color=colour, capsize=3)
    left.set(xlabel="quorum", ylabel="accepted answers that are lies")
    left.yaxis.set_major_formatter(percent())
    right.set(xlabel="quorum", ylabel="results for each unit")
    right.set_ylim(bottom=0)
    for ax in (left, right):
        ax.set_xticks(sorted({row.value[0] for row in rows}))
    left.legend()
    return figure


def answered(row) -> int:
    """Units that have an answer, honest or not."""
    return sum(len(i.honest) + len(i.lies) for i in row.story.iterations)


@themed
def trade(rows, what: str):
    """Accuracy against virtual time, a point for each choice; bars from the least to the most of the seeds."""
    figure, ax = sheet(9, 4.4)
    (days, beside), (found, around) = (reach(rows, ask) for ask in (lambda r: r.story.days, lambda r: r.accuracy))
    ax.plot(days, found, color=GREY, linewidth=1)
    ax.errorbar(days, found, around, beside, fmt="o", color=BLUE, capsize=3)
    for x, y, row in zip(days, found, rows, strict=True):
        ax.annotate(f"{row.value}", (x, y), (6, 6), textcoords="offset points")
    ax.set(xlabel=f"days; beside the points: {what}", ylabel="test accuracy")
    ax.yaxis.set_major_formatter(percent())
    return figure
