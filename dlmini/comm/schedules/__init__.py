"""Collectives are data: who sends which chunks to whom, step by step, written once.

An algorithm (`ring`, `tree`, ...) makes a `Plan` for N ranks; a plan has readers: `play` moves real chunks over any
transport, `draw` makes the picture, `added` sums as `play` would but moves nothing, and the simulator's `price`
advances all clocks at once.
"""

from dlmini.comm.schedules.added import added
from dlmini.comm.schedules.cubes import Doubling, HalvingDoubling, doubling, halving_doubling
from dlmini.comm.schedules.draw import Drawing, draw
from dlmini.comm.schedules.hierarchy import Hierarchical
from dlmini.comm.schedules.play import Owned, Parts, Slices, moves, play
from dlmini.comm.schedules.rings import Ring, ring
from dlmini.comm.schedules.step import NOBODY, Plan, Schedule, Step, cut, native, schedule
from dlmini.comm.schedules.trees import Naive, Tree, naive, tree

__all__ = [
    "NOBODY",
    "Doubling",
    "Drawing",
    "HalvingDoubling",
    "Hierarchical",
    "Naive",
    "Owned",
    "Parts",
    "Plan",
    "Ring",
    "Schedule",
    "Slices",
    "Step",
    "Tree",
    "added",
    "cut",
    "doubling",
    "draw",
    "halving_doubling",
    "moves",
    "naive",
    "native",
    "play",
    "ring",
    "schedule",
    "tree",
]
