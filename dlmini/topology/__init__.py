"""With whom to talk: all-reduce, parameter servers, gossip, and what owns a codec of its own."""

from dlmini.topology.allreduce import AllReduce
from dlmini.topology.async_gossip import AsyncGossip
from dlmini.topology.choco import Choco
from dlmini.topology.gossip import Gossip
from dlmini.topology.graphs import GRAPHS, consensus_distance, contraction, spectral_gap
from dlmini.topology.low_rank import LowRank
from dlmini.topology.own import Own
from dlmini.topology.parameter_server import ParameterServer
from dlmini.topology.push_sum import PushSum
from dlmini.topology.star import Star

__all__ = [
    "GRAPHS",
    "AllReduce",
    "AsyncGossip",
    "Choco",
    "Gossip",
    "LowRank",
    "Own",
    "ParameterServer",
    "PushSum",
    "Star",
    "consensus_distance",
    "contraction",
    "spectral_gap",
]
