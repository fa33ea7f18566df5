"""With whom to talk: all-reduce, parameter servers, gossip."""

from dlmini.topology.allreduce import AllReduce
from dlmini.topology.gossip import Gossip
from dlmini.topology.graphs import GRAPHS, contraction, spectral_gap
from dlmini.topology.parameter_server import ParameterServer

__all__ = ["GRAPHS", "AllReduce", "Gossip", "ParameterServer", "contraction", "spectral_gap"]
