"""The document's two tables and figures, with ours beside them, in a folder: classroom.md and pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import isinf
from pathlib import Path

from dlmini import files
from dlmini.studies.classroom import reckoned
from dlmini.studies.classroom.learning import Form, Learned
from dlmini.studies.classroom.many_runs import means, points
from dlmini.studies.classroom.packets_kept import Kept
from dlmini.studies.classroom.published import (
    ALONE,
    BATCH_TO_80,
    BATCH_TO_HALF,
    EPOCHS_TO_80,
    EPOCHS_TO_HALF,
    PARAMETERS,
    PCS,
    TABLE,
)
from dlmini.studies.classroom.real import Report
from dlmini.studies.classroom.timing import Timed
from dlmini.studies.classroom.unsaid import Unsaid

TARGET, ERROR = 0.8, 0.5  # what the document waits for: accuracy, and the error


@dataclass
class Found:
    """What was found in each world; what was not asked for is empty."""

    form: Form | None = None
    timed: list[Timed] = field(default_factory=list)  # in the published classroom
    cable: list[Timed] = field(default_factory=list)  # on Gigabit Ethernet alone
    ways: list[Learned] = field(default_factory=list)
    mistakes: list[Learned] = field(default_factory=list)
    batches: list[Learned] = field(default_factory=list)
    computers: list[Learned] = field(default_factory=list)  # one, and six
    kept: list[Kept] = field(default_factory=list)
    unsaid: dict[str, list[Unsaid]] = field(default_factory=dict)  # by scale
    real: Report | None = None
    skipped: str = ""  # why there is no third world


def lines(head: str, rows) -> str:
    """A table in Markdown."""
    columns = head.count("|") + 1
    return "\n".join([f"| {head} |", "|" + "---|" * columns, *(f"| {' | '.join(map(str, row))} |" for row in rows), ""])


def times(found: Found) -> str:
    """Table 2: seconds of an epoch of six computers, of those synchronisation, and the message."""
    ours, real = (
        {row.name: row for row in found.timed},
        {row.name: row for row in found.real.rows} if found.real else {},
    )
    guess, rows = {row.name.removeprefix("star, "): row for row in reckoned.rows()}, []
    for column in TABLE:
        here, there = ours.get(column.name), real.get(column.name)
        rows.append([
            column.name, f"{column.epoch:g}", f"{column.synchronisation:g}", f"{column.mib:g}", f"x{column.ratio}",
            f"{guess[column.name].epoch:.1f}", f"{guess[column.name].synchronisation:.1f}",
            *((f"{here.epoch:.1f}", f"{here.synchronisation:.1f}", f"{here.packet:,}") if here else ("–",) * 3),
            *((f"{there.epoch:.1f}", f"{1000 * there.exchange:.0f}") if there else ("–",) * 2),
        ])  # fmt: skip
    head = (
        "6 computers | epoch, s, published | synchronisation, s | MiB | ratio | epoch, s, reckoned | synchronisation, "
        "s | epoch, s, simulated | synchronisation, s | bytes of a packet | epoch, s, here by MPI | an exchange, ms"
    )
    return lines(head, rows)


def accuracies(found: list[Learned], first: str) -> str:
    """By way: accuracy, how far from the first (seed by seed), bytes; ±: the spread of seeds."""
    told = [
        (row.name, f"{row.accuracy:.1%}" + (f" ± {100 * row.spread:.1f}" if row.spread else ""),
         "" if row.name == first else points(found, row.name, first), f"{row.packet:,}", f"{row.nbytes / 1e6:,.1f}")
        for row in means(found)
    ]  # fmt: skip
    return lines(f"| accuracy | points against {first} | bytes of the largest packet | MB in all, mean", told)


def epochs(number: float) -> str:
    return "not reached" if isinf(number) else f"{number:.1f}"


def batch_table(found: Found) -> str:
    rows = [
        (one.name, epochs(one.epochs_to(loss=ERROR)), BATCH_TO_HALF.get(batch, "–"), epochs(one.epochs_to(TARGET)),
         BATCH_TO_80.get(batch, "–"), f"{one.accuracy:.1%}")
        for one, batch in zip(found.batches, found.form.batches, strict=True)
    ]  # fmt: skip
    head = "| epochs to the error 0.5 | published | epochs to 80 % | published | accuracy at the end"
    return lines(head, rows)


def computers_table(found: Found) -> str:
    alone, six = found.computers
    rows = [
        (count, f"{seconds:g}", EPOCHS_TO_80[count], epochs(one.epochs_to(TARGET)), EPOCHS_TO_HALF[count],
         epochs(one.epochs_to(loss=ERROR)), f"{one.accuracy:.1%}")
        for count, seconds, one in ((1, ALONE, alone), (PCS, TABLE[0].epoch, six))
    ]  # fmt: skip
    head = (
        "computers | epoch, s, published | epochs to 80 %, published | here | epochs to the error 0.5, published | "
        "here | accuracy at the end"
    )
    return lines(head, rows)


def kept_table(rows: list[Kept]) -> str:
    told = [(r.name, r.steps, f"{r.zeros:.1%}", f"{r.energy:.1%}", f"{r.nbytes:,}", f"x{r.ratio:.1f}") for r in rows]
    return lines("| steps made before | zeros | energy kept | bytes, deflated | ratio to float32", told)


def unsaid_table(found: dict[str, list[Unsaid]]) -> str:
    """In gradients of the layer."""
    rows = zip(*found.values(), strict=True)
    told = [(row[0].layer, *(f"{number:.1f}" for one in row for number in (one.own, one.back))) for row in rows]
    return lines("| " + " | ".join(f"{name}: a computer | the server" for name in found), told)


def real_text(found: Found) -> str:
    if found.real is None:
        return f"Not run: {found.skipped}.\n"
    rows = [
        (r.name, f"{r.packet:,}", f"{1000 * r.exchange:.0f}", f"{1000 * r.predicted:.0f}",
         f"{1000 * r.handling:.0f}", f"{r.ratio:.2f}", f"{r.round:.2f}", f"{r.synchronisation:.2f}")
        for r in found.real.rows
    ]  # fmt: skip
    head = (
        "| bytes of a packet | an exchange, ms | in virtual time, ms | of it packets read and made | ratio | a round "
        "of training, s | synchronisation"
    )
    same_bytes, same_weights = (("" if right else "NOT ") for right in (found.real.same_bytes, found.real.same_weights))
    said = (
        f"What passed between each two ranks is {same_bytes}the same in both worlds, to the byte; "
        f"weights are {same_weights}the same, to the bit.\n"
    )
    return lines(head, rows) + "\n" + said


def text(found: Found) -> str:
    """classroom.md."""
    parts = [
        "# The classroom as a cluster",
        f"{PCS} computers, a U-Net of {PARAMETERS:,} parameters. Published: Krivosheev, Kuznetsov, Spitsyn.",
        "## Table 2, and ours beside it",
        times(found),
        "## Reckoned: what else six computers could have done",
        reckoned.table(reckoned.rows()),
    ]
    if found.cable:
        numbers = ((t, (t.synchronisation, t.flowing, t.epoch)) for t in found.cable)
        cable = [(t.name, f"{t.packet:,}", *(f"{number:.1f}" for number in row)) for t, row in numbers]
        parts += [
            "## On Gigabit Ethernet alone: 117 MB/s, 0.1 ms, nothing else is paid for",
            lines("| bytes of a packet | synchronisation, s an epoch | if rounds flow | epoch, s", cable),
        ]
    if found.ways:
        parts += ["## Does it learn? Test accuracy by way", f"{found.form}.", accuracies(found.ways, "float32")]
    if found.mistakes:
        parts += ["## The published program's mistakes", accuracies(found.mistakes, "none")]
    if found.kept:
        parts += ["## What a packet keeps of a gradient", kept_table(found.kept)]
    if found.unsaid:
        parts += ["## What 21 levels with feedback have still to say, in gradients", unsaid_table(found.unsaid)]
    if found.computers:
        parts += ["## Table 1: one computer and six", computers_table(found)]
    if found.batches:
        parts += ["## Sizes of a mini-batch, one computer", batch_table(found)]
    if found.real or found.skipped:
        parts += ["## Real: MPI between six hosts at 1 Gbit/s", real_text(found)]
    return "\n\n".join(parts)


def figures(found: Found) -> dict:
    """The document's figures 3, 4 and 5, and where the seconds of an epoch go."""
    from dlmini.show import curves
    from dlmini.studies.classroom.pictures import epoch_bars, examples

    drawn = {"epochs": epoch_bars(found)}
    if found.ways:
        drawn["figure_5_compression"] = curves(
            {m.name: m.curve for m in means(found.ways)}, "epochs", ("accuracy", "loss")
        )
        drawn["figure_1_tiles"] = examples(found.form)
    if found.mistakes:
        drawn["mistakes"] = curves({m.name: m.curve for m in means(found.mistakes)}, "epochs", ("accuracy",))
    if found.batches:
        drawn["figure_3_batches"] = curves(
            {one.name: one.curve for one in found.batches}, "epochs", ("loss", "accuracy")
        )
    if found.computers:
        names = ("1 computer", "6 computers")
        pairs = zip(names, found.computers, strict=True)
        drawn["figure_4_computers"] = curves({name: one.curve for name, one in pairs}, "epochs", ("accuracy", "loss"))
    return drawn


def write(found: Found, folder: Path) -> Path:
    """Into a new folder: all of it, or nothing."""
    said = text(found).encode()
    contents = {"classroom.md": lambda stream: stream.write(said)}
    contents |= {f"{name}.png": partial(figure.savefig, format="png") for name, figure in figures(found).items()}
    return files.write_folder(folder, contents)
