"""When to talk: after every step, after a few, or without waiting for anybody."""

from dlmini.pieces import public
from dlmini.sync.sync import Sync

globals().update(public("sync"))  # every synchronisation of this room: pieces.py finds them
__all__ = ["Sync", *sorted(public("sync"))]
