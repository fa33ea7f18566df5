"""Collectives that have been posted and are not yet waited for."""

from __future__ import annotations


class Pending:
    """A collective that has been posted. `wait()` gives its result, as often as it is asked."""

    def __init__(self, result):
        self._result = result

    def start(self) -> Pending:
        """Begin to work on it now, if that is not so already."""
        return self

    def wait(self):
        return self._result


class Reshaped(Pending):
    """Another pending collective, whose flat result is given its shape back."""

    def __init__(self, pending: Pending, shape: tuple[int, ...]):
        self._pending, self._shape = pending, shape

    def start(self) -> Pending:
        self._pending.start()
        return self

    def wait(self):
        return self._pending.wait().reshape(self._shape)
