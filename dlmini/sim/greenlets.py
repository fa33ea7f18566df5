"""How a greenlet is made: with a C stack that may be looked up."""

from __future__ import annotations

from functools import partial
from operator import call

from greenlet import greenlet

CALLS = [call] * 5  # two C frames each


def deep_greenlet(work, hub: greenlet) -> greenlet:
    """A greenlet that calls `work`, at least ten C frames below its own start.

    A greenlet's stack begins in the middle of the hub's; what lies above its start belongs to others, and changes.
    NumPy looks up: before it reuses a temporary of 256 KB or more it asks `backtrace` for ten callers. Since Python
    3.11 a Python function that calls another adds no C frame, so a rank's program, however deep in calls, would stand
    about five frames below its start: the unwinder would walk off into garbage, and the process die of it.

    `operator.call(f, x)` is f(x), called from C: it adds frames there, and none to a traceback. `work` pays once, a
    switch some ten nanoseconds, since it saves 0.6 KB more.
    """
    return greenlet(partial(*CALLS, work), parent=hub)
