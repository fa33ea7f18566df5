"""With whom to talk: all-reduce, parameter servers, gossip, and what owns a codec of its own."""

from dlmini.pieces import public
from dlmini.topology.graphs import GRAPHS, consensus_distance, contraction, spectral_gap
from dlmini.topology.own import Own
from dlmini.topology.topology import Topology

globals().update(public("topology"))  # every topology of this room: pieces.py finds them
__all__ = ["GRAPHS", "Own", "Topology", "consensus_distance", "contraction", "spectral_gap", *public("topology")]
