"""Words of `dlmini compare` become machines, data and a network; what would be ignored is refused."""

from __future__ import annotations

from pathlib import Path

from dlmini.configurations import FLOPS, JITTER


def check_asked(on, network, cluster, flops, jitter, data, cifar, as_published, reading, threshold) -> None:
    """Refuse what would be ignored."""
    if on != "simulated" and (flops, jitter) != (None, None):
        raise ValueError(f"--flops and --jitter are of simulated machines, and have no meaning with --on {on}")
    if cluster is not None and (on != "simulated" or network is not None):
        other = f"--network {network}" if network else f"--on {on}"
        raise ValueError(f"--cluster {cluster} says which simulated machines and links there are; leave {other} out")
    if cifar is not None and data is not None:
        raise ValueError(f"--cifar {cifar} says which data there are; leave --data {data} out")
    if not as_published and (reading or threshold is not None):
        given = "--reading" if reading else "--threshold"
        raise ValueError(f"{given} is of the document's own algorithms; give --as-published with it")


def network_and_data(model: str | None, data: str | None, cifar: Path | None) -> tuple:
    """(the network, the two sets, what they are called)."""
    from dlmini import command_words as words
    from dlmini.data import load, read_cifar
    from dlmini.nn import ZOO

    data = data or "fashion-mnist"
    sets = load(data) if cifar is None else read_cifar(cifar, complete=False)
    name, called = model or ("cifar_net" if cifar else "lenet"), told_cifar(sets) if cifar else data
    net = words.choose("model", name, ZOO)(input=sets[0].shape, classes=len(sets[0].classes))
    return net, sets, f"{name} on {called}"


def told_cifar(sets) -> str:
    """Its name; and how many rows there are, if some are missing."""
    from dlmini.data.cifar import ROWS

    name, rows = sets[0].name.partition("/")[0], len(sets[0])
    return name if rows == ROWS["train"] else f"{name} ({rows:,} of its {ROWS['train']:,} images)"


def place_of(on: str, count: int, network, cluster, flops, jitter) -> tuple:
    """(so many ranks, where they are in words)."""
    from dlmini import command_words as words
    from dlmini.sim import Simulated
    from dlmini.studies.published_levels.clusters import CLUSTERS

    if cluster is None:
        place, where = words.read_place(on, count, network), words.told_place(on, network)
    else:
        place = Simulated(count, words.choose("cluster", cluster, CLUSTERS).cluster(count))
        where = f"simulated, {cluster}: {-(-count // place.cluster.network.per_node)} nodes"
    if on == "simulated":
        speed, uneven = FLOPS if flops is None else flops, JITTER if jitter is None else jitter
        place = machines(place, speed, uneven)
        where += f" · machines of {speed / 1e9:g} GFLOP/s, more or less by {uneven:.0%}"
    return place, where


def machines(place, flops: float, jitter: float):
    """The same simulated ranks, on machines of this speed."""
    from dataclasses import replace

    from dlmini.sim import Cluster

    return replace(place, cluster=replace(Cluster.of(place.cluster), flops=flops, jitter=jitter))


def numbers(text: str) -> list[int]:
    try:
        counts = [int(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"--workers {text}: give a number, or several such as 16,60") from None
    if min(counts) < 1:
        raise ValueError(f"--workers {text}: there must be at least one")
    if len({*counts}) < len(counts):
        raise ValueError(f"--workers {text}: one of these numbers stands there twice")
    return counts
