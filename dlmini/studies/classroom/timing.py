"""The second world, time: the same protocol with the whole U-Net, in virtual seconds.

Six computers exchange real packets of real gradients for a few rounds; a gradient takes as long as published, and what
no byte explains (reckoned.py) is charged where gradients are turned into bytes, half of it on either way.

The first round takes what is reckoned: all begin together. Later ones may be shorter. Who is answered first begins its
next gradient first, and says it while others still compute, if the server's cable works on while its processor does:
N packets in a row in the place of 2 (N - 1). A program that sends and receives by one thread cannot do so.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from dlmini.comm.network import Link, Switch, gigabit
from dlmini.comm.schedules import ring
from dlmini.compression import Deflate, Int8, None_, TopK
from dlmini.data import aerial
from dlmini.events import Round
from dlmini.nn import unet
from dlmini.optim import SGD
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.segment import Segment
from dlmini.sim import Cluster, Simulated
from dlmini.studies.classroom.learning import WAYS
from dlmini.studies.classroom.published import COMPUTE, DEFLATE, PCS, SYNCS
from dlmini.studies.classroom.reckoned import Room, calibrated
from dlmini.topology import AllReduce, LowRank, Star

ROUNDS, TILE = 3, 64  # the vector is as long whatever the tile is


class Timed(NamedTuple):
    """An epoch of six computers. packet: bytes of the first one that a computer said; nbytes: all, in all rounds.

    synchronisation: seconds, if every round is like the first; flowing: if it is like the last.
    """

    name: str
    packet: int
    nbytes: int
    synchronisation: float
    flowing: float

    @property
    def epoch(self) -> float:
        return COMPUTE + self.synchronisation


@cache
def whole_unet() -> Segment:
    """The full network on small tiles."""
    sets = aerial(4 * PCS, TILE), aerial(1, TILE, seed=1)
    return Segment(unet(input=(TILE, TILE, 3)), *sets, batch=1)


def room_of(room: Room, spent: float, encodings: int) -> Cluster:
    """The published classroom. spent: on each encoding; encodings: one after another in a round."""
    seconds = {"gradient": COMPUTE / SYNCS, "encode": room.fixed / encodings + spent}
    return Cluster(Switch(Link(0.0, room.bandwidth)), seconds=seconds)


def recipes() -> dict[str, tuple[Recipe, float, int]]:
    """(recipe, seconds of an encoding, how many encodings follow one another in a round)."""
    deflated = Deflate(Int8(10))
    found = {name: (star(WAYS[name].compression), 0.0, 2) for name in ("float32", "float16", "int8")}
    found |= {
        "int8 + deflate": (star(Deflate(Int8())), DEFLATE, 2),
        "21 levels + deflate": (star(deflated), DEFLATE, 2),
    }
    found |= {"top-k 1 %": (star(TopK(0.01)), 0.0, 2), "ring, float32": (recipe(AllReduce(ring)), 0.0, 1)}
    # four encodings in a round (the packet, both products, the orthogonal basis) for two synchronisations
    return found | {"ring twice, PowerSGD of rank 2": (recipe(LowRank(2, ring)), 0.0, 2)}


def star(codec) -> Recipe:
    return recipe(Star(codec), codec)


def recipe(topology, codec=None) -> Recipe:
    return Recipe(topology=topology, compression=codec or None_(), optimizer=SGD(0.01), rounds=ROUNDS)


def timed(name: str, cable: bool = False) -> Timed:
    """In the published classroom; or, with `cable`, on Gigabit Ethernet alone, where nothing is paid but for bytes."""
    how, spent, encodings = recipes()[name]
    room = Room(0.0, 0.0) if cable else calibrated()
    cluster = Cluster(gigabit, seconds={"gradient": COMPUTE / SYNCS}) if cable else room_of(room, spent, encodings)
    outcome = train(whole_unet(), how, Simulated(PCS, cluster)).result()
    said = [event for event in outcome.events if isinstance(event, Round)]
    ends = [max(event.at for event in said if event.t == t) for t in range(ROUNDS)]
    synced = [SYNCS * seconds - COMPUTE for seconds in (ends[0], ends[-1] - ends[-2])]
    return Timed(name, said[0].nbytes, outcome.nbytes, *synced)
