"""Ranks and what they say to each other: `Comm`, its collectives, links, and the transports that really run ranks."""

from dlmini.comm.base import Comm
from dlmini.comm.channels import ANY
from dlmini.comm.errors import CommError, Deadlock, DeadRank, Disagreed, RankFailed, Unreceived, Unserved
from dlmini.comm.ghost import Ghost
from dlmini.comm.graph import Graph
from dlmini.comm.launch import Results, launch
from dlmini.comm.network import (
    Link,
    Medium,
    Nodes,
    Switch,
    gigabit,
    home_internet,
    infiniband,
    nvlink_island,
    shared_memory,
    ten_gigabit,
    wifi,
)
from dlmini.comm.schedules import (
    Hierarchical,
    doubling,
    draw,
    halving_doubling,
    naive,
    native,
    play,
    ring,
    tree,
)

__all__ = [
    "ANY",
    "Comm",
    "CommError",
    "DeadRank",
    "Deadlock",
    "Disagreed",
    "Ghost",
    "Graph",
    "Hierarchical",
    "Link",
    "Medium",
    "Nodes",
    "RankFailed",
    "Results",
    "Switch",
    "Unreceived",
    "Unserved",
    "doubling",
    "draw",
    "gigabit",
    "halving_doubling",
    "home_internet",
    "infiniband",
    "launch",
    "naive",
    "native",
    "nvlink_island",
    "play",
    "ring",
    "shared_memory",
    "ten_gigabit",
    "tree",
    "wifi",
]
