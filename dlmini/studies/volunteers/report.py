"""volunteers.md and its pictures: what was found, beside what was published."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from math import isfinite
from pathlib import Path

from dlmini import files
from dlmini.studies.classroom.report import lines
from dlmini.studies.volunteers import published
from dlmini.studies.volunteers.study import Found
from dlmini.studies.volunteers.sweeps import pace, results
from dlmini.volunteer.population import Story
from dlmini.volunteer.simulated_host import HOUR, Nature

CAUSES = {
    "memory": "the owner's programs had taken the memory that the VM needs",
    "disk": "the owner's files had taken the disk that it needs",
    "away": "the host was off, or too slow, until the deadline had passed",
    "still fetching": "the deadline of the first unit passed during the download",
    "left for good": "the host never came back",
}


def hours(seconds: float) -> str:
    return f"{seconds / HOUR:.2f} h" if isfinite(seconds) else "never"


def main_table(found: Found) -> str:
    story, work = found.vm, found.learned.work if found.learned else None
    rows = [
        ("iterations", published.ITERATIONS, len(story.iterations)),
        (
            "hosts at a time",
            f"about {published.HOSTS}",
            f"{published.HOSTS} ({story.came} in all, {story.unable} unable)",
        ),
        ("good results", f"{published.GOOD:,}", f"{story.good:,}"),
        ("failed results", f"{published.FAILED:,}", f"{story.failed:,}"),
        ("success", f"{published.SUCCESS:.2%}", f"{story.success:.2%}"),
    ]
    if work:
        rows += [
            ("weights", f"{published.WEIGHTS:,}", f"{work.size:,}"),
            ("a parameter set", f"{published.MEGABYTE:g} MB", f"{4 * work.size / 1e6:.3f} MB"),
            ("rows of a local set", "not said", f"{found.learned.rows:.1f}"),
            (
                "local steps",
                "not said",
                f"{work.steps} of {work.batch} rows, {work.optimizer}({work.rate:g}) begun anew",
            ),
            ("accuracy at the end", "not said", f"{found.learned.accuracy:.1%}"),
        ]
    return lines("| Kurochkin and Papanov | here", rows)


def causes(story: Story) -> str:
    total = max(1, story.good + story.failed)
    rows = [
        (CAUSES.get(name, name), f"{count:,}", f"{count / total:.2%}") for name, count in story.causes.most_common()
    ]
    return lines("why results failed | results | of all", rows)


def constants() -> str:
    it = Nature()
    rows = [
        (f"`{one.name}`", told(getattr(it, one.name)), "fitted" if one.name == "ram_used" else "chosen")
        for one in fields(it)
    ]
    return lines("constant | value | ", rows)


def told(value) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{size:g} GB: {share:.0%}" for size, share in value)
    return f"{value:,g}" if value < HOUR else f"{value / HOUR:g} h"


def parts(found: Found) -> str:
    rows = []
    for story in (found.vm, found.container):
        by = story.delivery
        sizes = ", ".join(f"{name} {size:,g} MB" for name, size in by.parts)
        rows.append(
            (
                by.name,
                f"{by.ram:g}",
                f"{by.download:g}",
                f"{by.unpack:g}",
                f"{by.disk:g}",
                f"{by.start:g}",
                f"{sizes}; in all {by.stored:,.0f} MB",
            )
        )
    return lines("theirs | RAM, GB | download, GB | unpack, s | disk, GB | start, s | parts on the server", rows)


def delivery(found: Found) -> str:
    rows = []
    for story in (found.vm, found.container):
        able = 1 - story.unable / max(1, story.came)
        rows.append(
            (
                story.delivery.name,
                f"{able:.0%}",
                hours(story.first),
                f"{story.a_day:,.0f}",
                f"{story.days:.1f}",
                f"{story.success:.2%}",
            )
        )
    return lines(
        "ours | hosts that can take part | first result after (median) | units a day | days in all | success", rows
    )


def over_seeds(row, ask, form: str) -> str:
    """The mean over the seeds of a sweep, and from least to most."""
    mean, least, most = (format(one, form) for one in row.spread(ask))
    return mean if least == most == mean else f"{mean} ({least} to {most})"


def deadlines(found: Found) -> str:
    rows = [
        (
            f"{r.value:g} h",
            over_seeds(r, lambda row: row.story.success, ".1%"),
            over_seeds(r, pace, ".2f"),
            over_seeds(r, results, ",.0f"),
        )
        for r in found.deadlines
    ]
    return lines("deadline | success | days of an iteration | results", rows)


def quorums(found: Found) -> str:
    rows = [
        (
            f"{r.value[1]:.0%}",
            r.value[0],
            over_seeds(r, lambda row: row.story.wrong, ".0f"),
            over_seeds(r, lambda row: sum(len(i.given_up) for i in row.story.iterations), ".0f"),
            over_seeds(r, results, ",.0f"),
            over_seeds(r, pace, ".2f"),
        )
        for r in found.quorums
    ]
    return lines("liars | quorum | lies accepted | units given up | results | days of an iteration", rows)


def learning(rows, what: str) -> str:
    told = [
        (
            r.value,
            over_seeds(r, lambda row: row.accuracy, ".1%"),
            len(r.story.iterations),
            over_seeds(r, lambda row: row.story.days, ".1f"),
            over_seeds(r, results, ",.0f"),
        )
        for r in rows
    ]
    return lines(f"{what} | accuracy | iterations | days | results", told)


def text(found: Found) -> str:
    """volunteers.md."""
    out = ["# A network trained by volunteers", "## The experiment", main_table(found)]
    if found.others:
        others = ", ".join(f"{one:.2%}" for one in found.others)
        out.append(f"Seed {found.seed} above; the next seeds give {others}.")
    out += [causes(found.vm), published.SILENT, "## The constants of the population", constants()]
    if found.container:
        out += ["## Virtual machine against container", parts(found), delivery(found)]
    if found.seeds > 1:
        out.append(f"The sweeps below: means of seeds {found.seed} to {found.seed + found.seeds - 1} (least to most).")
    if found.deadlines:
        out += ["## Deadline", deadlines(found), "## Quorum and liars", quorums(found)]
    if found.sets:
        out += ["## Size of local sets", learning(found.sets, "units in an iteration")]
        out += ["## Local steps", learning(found.steps, "steps of a unit")]
    return "\n\n".join(out)


def write(found: Found, folder: Path) -> None:
    """Into a new folder: all of it, or nothing."""
    from dlmini.studies.volunteers.pictures import figures

    contents = {"volunteers.md": lambda stream: stream.write(text(found).encode())}
    contents |= {f"{name}.png": partial(figure.savefig, format="png") for name, figure in figures(found).items()}
    files.write_folder(folder, contents)
