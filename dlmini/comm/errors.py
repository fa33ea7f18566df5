"""What can go wrong between ranks, one name each, the same on every transport that can tell."""


class CommError(RuntimeError):
    """Ranks failed one another."""


class Deadlock(CommError):
    """Some ranks wait, and nothing can happen any more. `waits` says who waits for whom, as data.

    messages: what a rank that has finished has sent, and nobody received.
    """

    def __init__(self, text: str, waits=(), messages=()):
        super().__init__(text)
        self.waits, self.messages = waits, messages


class Disagreed(CommError):
    """Ranks of a group called different collectives. `calls` has each of them, (rank, where), as data."""

    def __init__(self, text: str, calls=()):
        super().__init__(text)
        self.calls = calls


class Unserved(Deadlock):
    """A receive that nobody will ever serve: the rank it waits for has finished."""


class DeadRank(Deadlock):
    """A receive from a rank that died and does not come back. A program may catch it and go on without that rank:
    where a death may happen (`launch`, may_die), `comm.gone()` says who is meant."""


class Unreceived(CommError):
    """All ranks have finished, but messages lie unread. `messages` lists them, as data."""

    def __init__(self, text: str, messages=()):
        super().__init__(text)
        self.messages = messages


class RankFailed(CommError):
    """A rank was lost to something other than an exception of its own: killed, exited, hung, out of memory.

    died: its process has ended, or, in the simulator, its machine has crashed.
    """

    def __init__(self, text: str, rank: int = -1, died: bool = False):
        super().__init__(text)
        self.rank, self.died = rank, died


class Cancelled(BaseException):
    """Inside a rank: its run was given up. Not an Exception: a program that catches those must not go on.

    `what` the rank was doing, and `on` whom it waited.
    """

    def __init__(self, what: str = "", on: tuple[int, ...] = ()):
        super().__init__(what)
        self.what, self.on = what, on
