"""What a strategy remembers between rounds, in the project's file: moments, control variates, the round's number.

A mapping like the dict of `federate`, but a value is read when it is asked for, and what a step sets is written when
`keep` says so: with the weights it led to, or not at all. So a thousand control variates of 1 MB lie on the disk.
"""

from __future__ import annotations

import json
from collections.abc import MutableMapping

import numpy as np

from dlmini.volunteer.store import Store


class StrategyMemory(MutableMapping):
    def __init__(self, store: Store):
        self.store, self.changes = store, {}

    def keep(self) -> None:
        """Write what was set. Inside a transaction."""
        for key, value in self.changes.items():
            array = isinstance(value, np.ndarray)
            kind, data = (value.dtype.str, value.tobytes()) if array else ("json", json.dumps(value).encode())
            self.store.keep_memory(named(key), kind, data)
        self.changes = {}

    def forget(self) -> None:
        """What was set since the last `keep` has not happened."""
        self.changes = {}

    def __getitem__(self, key):
        if key in self.changes:
            return self.changes[key]
        found = self.store.memory(named(key))
        if found is None:
            raise KeyError(key)
        kind, data = found
        return json.loads(data) if kind == "json" else np.frombuffer(data, kind).copy()

    def __setitem__(self, key, value) -> None:
        self.changes[key] = value

    def __delitem__(self, key) -> None:
        raise TypeError("what a strategy remembers is changed, never deleted")

    def __iter__(self):
        return iter({*self.changes, *(json.loads(name) for name in self.store.memories())})

    def __len__(self) -> int:
        return sum(1 for _ in self)


def named(key: str | int) -> str:
    """7 and "7" are two names."""
    return json.dumps(key)
