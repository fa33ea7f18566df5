"""When to talk: after every step, after a few, or without waiting for anybody."""

from dlmini.sync.asynchronous import Asynchronous, Downpour, PartlySynchronous, StaleSynchronous
from dlmini.sync.synchronous import BulkSynchronous, LocalSGD

__all__ = ["Asynchronous", "BulkSynchronous", "Downpour", "LocalSGD", "PartlySynchronous", "StaleSynchronous"]
