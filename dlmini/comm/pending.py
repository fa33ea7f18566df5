"""Collectives that have been posted and are not yet waited for.

On real transports a rank works on them itself, in their order: a little whenever it says how far its work is
(`comm.reached`), or waits for a message; all the rest when the result is wanted. The simulator has streams for that.
"""

from __future__ import annotations

from collections import deque

from dlmini.comm.schedules import Plan, moves


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


class Stepwise(Pending):
    """A plan that is played by its rank: at once if it is waited for, a step at a time if it was started.

    `result(store)` is what it comes to. `wanted` is the rank whose message its next step needs.
    """

    def __init__(self, comm, plan: Plan, store, channel: int, result):
        self.comm, self.channel, self.store, self.result = comm, channel, store, result
        self.moves, self.wanted, self.over, self.error = moves(comm, plan, store, channel), None, False, None

    def start(self) -> Pending:
        world = getattr(self.comm, "world", self.comm)
        world._unfinished = world._unfinished or deque()
        world._unfinished.append(self)
        world._work_on_posted()
        return self

    def wait(self):
        """Those that were posted before it come first."""
        before = self.comm._unfinished
        while before and not self.over:
            before.popleft().finish()
        self.finish()
        if self.error is not None:
            raise self.error
        return self.result(self.store)

    def finish(self) -> None:
        """To its end, waiting for others."""
        while not self.over:
            self._step()

    def advance(self) -> bool:
        """As far as messages have come. Is it over?"""
        while not self.over and (self.wanted is None or self.comm._due(self.wanted, self.channel)):
            self._step()
        return self.over

    def _step(self) -> None:
        try:
            self.wanted = next(self.moves)
        except StopIteration:
            self.over = True
        except Exception as error:  # it is for whoever asks for the result
            self.over, self.error = True, error
