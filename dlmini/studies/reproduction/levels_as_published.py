"""S3 by the document's own algorithms: its claims, what each reading changes, its clusters, its data, threads."""

from __future__ import annotations

from dlmini.comm.network import gigabit
from dlmini.configurations import FLOPS, JITTER
from dlmini.data import load
from dlmini.nn import lenet
from dlmini.sim import Cluster, Simulated
from dlmini.studies.claims import CLAIMS, Claim, points
from dlmini.studies.published_levels import hybrid
from dlmini.studies.published_levels.clusters import CLUSTERS
from dlmini.studies.published_levels.dealing import Dealt
from dlmini.studies.published_levels.description import BATCH, EPOCHS
from dlmini.studies.published_levels.side_by_side import as_published, readings_tried
from dlmini.studies.published_levels.timing import teams, timed
from dlmini.studies.reproduction.row import Row

WORKERS = 16
SHORT, BRIEF = 20, 10  # epochs, and those of other readings; the long form has as many as the document
READ = {False: (9,), True: (3, 6, 9)}  # configurations by which readings are told apart
SHAPES = (("polus", 16), ("polus", 32), ("polus", 60), ("lomonosov2", 32), ("lomonosov2", 60), ("lomonosov2", 210))
LOOK = "one seed and one look, which swings by some points"
HERE = "dlmini reproduce --only S3"
FILES = "needs files that we may not ship; the command was tried on generated files of the same form"
ASKED = "dlmini compare --as-published --cifar FOLDER --cluster {} --workers {}"


def rows(long: bool = False) -> list[Row]:
    dealt, place = Dealt(lenet(), *load("fashion-mnist"), BATCH), Simulated(WORKERS, machines())
    epochs = EPOCHS if long else SHORT
    found = {row.number: row for row in as_published(dealt, place, epochs)}
    return [
        *claimed(found, epochs),
        *read_otherwise(readings_tried(dealt, place, read := EPOCHS if long else BRIEF, READ[long]), found, read),
        *clusters(),
        *threads(),
        *cifar(),
    ]


def machines() -> Cluster:
    return Cluster(gigabit, flops=FLOPS, jitter=JITTER)


def command(epochs: int, more: str = "") -> str:
    return f"dlmini compare --as-published --workers {WORKERS} --network gigabit --epochs {epochs}{more}"


def claimed(found: dict, epochs: int) -> list[Row]:
    """The claims of section 5.3, and the accuracies that they are differences of."""
    made = [claim_row(claim, found, epochs) for claim in CLAIMS]
    dropped = [100 * (1 - found[n].megabytes / found[n - 1].megabytes / 2) for n in (3, 6, 9)]  # a place with each
    why = f"of gradients of 100 images; of sums of 4 such gradients {dropped[1]:.1f} %, of 16 {dropped[2]:.1f} %"
    ends = ", ".join(f"{row.accuracy:.1%}" for row in found.values())
    return [
        *made,
        Row("as published: dropped by the threshold", 95, dropped[0], command(epochs, " --only 2,3"), why, "%"),
        Row("as published: accuracy of configurations 1 to 10", "figures", ends, command(epochs), TASK.format(epochs)),
    ]


TASK = "{} epochs of lenet on 10,000 images of Fashion-MNIST; the document: 50 of a small network on CIFAR-10"


def claim_row(claim: Claim, found: dict, epochs: int) -> Row:
    quantity = {"seconds": "total time"}.get(claim.what, claim.what)
    why = {
        "communication": f"with waiting {claim.written(claim.found(found, 'synchronisation'))}",
        "seconds": "machines' speed is calibrated to ours, at 60 workers and batch 20",
        "accuracy": f"the first worker's weights, nothing remembered; {LOOK}",
    }[claim.what]
    here = claim.written(claim.found(found, claim.what))
    return Row(f"as published: {claim.text}: {quantity}", claim.band, here, command(epochs), why)


def read_otherwise(found: dict[str, list], usual: dict, epochs: int) -> list[Row]:
    """What each switch changes, alone; where weights are mixed nothing can be dropped: the configurations before."""
    made = []
    for name, rows in found.items():
        before = {row.number: accuracy_after(usual[row.number], epochs) for row in rows}
        told = [f"{row.number}: {points(100 * (row.accuracy - before[row.number]))}" for row in rows]
        ends = ", ".join(f"{row.number}: {row.accuracy:.1%} for {before[row.number]:.1%}" for row in rows) + f"; {LOOK}"
        asked = command(epochs, f" --reading {name} --only {','.join(str(row.number) for row in rows)}")
        made.append(Row(f"read otherwise, {name}: points of accuracy", "not said", ", ".join(told), asked, ends))
    return made


def accuracy_after(row, epochs: int) -> float:
    """Of a run of so many epochs or more."""
    return next(point.accuracy for point in row.curve if point.epochs == epochs)


def clusters() -> list[Row]:
    """Total time and communication of configuration 9 against 1 on machines of the document's shape."""
    made = []
    for name, workers in SHAPES:
        rows = timed(lenet(), name, workers)
        gain = rows[1].seconds / rows[9].seconds
        shares = f"communication ×{rows[1].communication / rows[9].communication:.3g}, gossip alone "
        shares += f"×{rows[1].communication / rows[2].communication:.3g}, synchronisation is "
        shares += f"{rows[1].synchronisation / rows[1].seconds:.0%} of configuration 1's time; links are assumed"
        said = "×2–3" if name == "lomonosov2" else "nothing to speak of"
        made.append(Row(f"{name}, {workers} workers: configuration 9 against 1", said, f"×{gain:.3g}", HERE, shares))
    return made


def threads() -> list[Row]:
    """MPI and OpenMP: what was asked for next."""
    ways, nodes = hybrid.measured(), CLUSTERS["polus"].nodes[0]
    by_ranks = teams(lenet(), "polus", nodes)
    (many, long), (few, short) = by_ranks.items()
    about = f"measured on {ways[0].ranks} cores of this machine, {BATCH * ways[0].ranks} images a step in all, lenet"
    return [
        Row("P T ranks against P ranks of T threads", "asked for", "; ".join(map(str, ways)), HERE, about),
        Row(
            f"polus: communication of {many} ranks against {few} of {many // few} threads",
            "asked for",
            f"×{long / short:.3g}",
            HERE,
            "in virtual time, configuration 1; threads are taken to share a batch without loss",
        ),
    ]


def cifar() -> list[Row]:
    """The document's data, by whoever has the files."""
    polus, lomonosov = ASKED.format("polus", "16,32,60"), ASKED.format("lomonosov2", "32,60,210")
    return [
        Row("CIFAR-10 on Polus, 16, 32, 60 workers", "figures 9, 10, 13, 14, 17, 18", "with your files", polus, FILES),
        Row("CIFAR-100 on Polus, 16, 32, 60 workers", "figures 11, 15, 16", "with your files", polus, FILES),
        Row("CIFAR-10 on Lomonosov-2, 32, 60, 210 workers", "figures 12, 19, 20", "with your files", lomonosov, FILES),
    ]
