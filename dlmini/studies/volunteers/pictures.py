"""The study's figures."""

from __future__ import annotations

from itertools import pairwise

from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, themed
from dlmini.show.paper import sheet
from dlmini.studies.volunteers.published import SUCCESS
from dlmini.volunteer.population import Story
from dlmini.volunteer.simulated_host import DAY, HOUR

CAUSE_COLOURS = {"memory": VERMILION, "disk": ORANGE, "away": BLUE, "still fetching": SKY, "left for good": BLACK}
CAUSE_COLOURS |= {"lie": PURPLE, "crash": GREY}


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
        share = [row.story.causes[name] / (row.story.good + row.story.failed) for row in rows]
        if any(share):
            left.bar(range(len(rows)), share, bottom=below, color=CAUSE_COLOURS[name], label=name)
            below = [a + b for a, b in zip(below, share, strict=True)]
    left.axhline(1 - SUCCESS, color=GREY, linestyle=":", label=f"published: {1 - SUCCESS:.1%}")
    left.set(xlabel="deadline, hours", ylabel="failed results")
    left.set_xticks(range(len(rows)), [f"{h:g}" for h in hours])
    left.yaxis.set_major_formatter(percent())
    left.legend()
    right.plot(hours, [row.story.days / len(row.story.iterations) for row in rows], "o-", color=BLUE)
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
        units = [sum(len(i.honest) + len(i.lies) for i in row.story.iterations) for row in chosen]
        left.plot(
            x,
            [r.story.wrong / n for r, n in zip(chosen, units, strict=True)],
            mark + "-",
            color=colour,
            label=f"{share:.0%} liars",
        )
        needed = [(r.story.good + r.story.failed) / n for r, n in zip(chosen, units, strict=True)]
        right.plot(x, needed, mark + "-", color=colour)
    left.set(xlabel="quorum", ylabel="accepted answers that are lies")
    left.yaxis.set_major_formatter(percent())
    right.set(xlabel="quorum", ylabel="results for each unit")
    right.set_ylim(bottom=0)
    for ax in (left, right):
        ax.set_xticks(sorted({row.value[0] for row in rows}))
    left.legend()
    return figure


@themed
def trade(rows, what: str):
    """Accuracy against virtual time, a point for each choice."""
    figure, ax = sheet(9, 4.4)
    points = [(row.story.days, row.accuracy) for row in rows]
    for (a, b), (c, d) in pairwise(points):
        ax.plot((a, c), (b, d), color=GREY, linewidth=1)
    for (x, y), row in zip(points, rows, strict=True):
        ax.plot(x, y, "o", color=BLUE)
        ax.annotate(f"{row.value}", (x, y), (6, 6), textcoords="offset points")
    ax.set(xlabel=f"days; beside the points: {what}", ylabel="test accuracy")
    ax.yaxis.set_major_formatter(percent())
    return figure
