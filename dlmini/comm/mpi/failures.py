"""From what a rank said last, or mpiexec about it, to the exception that says best what went wrong."""

from __future__ import annotations

import re
import signal
from contextlib import suppress

import cloudpickle

from dlmini.comm.errors import RankFailed


def raised(rank: int, pickled: bytes | None, trace: str) -> Exception:
    """The rank's own exception, with the rank and its traceback as a note."""
    error = revived(pickled)
    if isinstance(error, SystemExit):
        return RankFailed(f"rank {rank} left by sys.exit({error.code!r})\n{trace}", rank)
    if isinstance(error, MemoryError):
        return RankFailed(f"rank {rank} ran out of memory ({error})\n{trace}", rank)
    if not isinstance(error, Exception):
        return RankFailed(f"rank {rank} has failed: {trace}", rank)
    error.add_note(f"raised on rank {rank}:\n{trace}")
    return error


def revived(pickled: bytes | None) -> BaseException | None:
    """The exception again; None where it cannot be made again here, and its traceback must do."""
    with suppress(Exception):
        return cloudpickle.loads(pickled)
    return None


def cause(code: int | None, words: str) -> str:
    """How a rank ended, by mpiexec's exit code, which is the rank's, and by its words, which name a signal."""
    if found := re.search(r"\bsignal (\d+)", words):
        number = int(found[1])
        known = number in signal.Signals._value2member_map_
        return f"was killed by {signal.Signals(number).name if known else f'signal {number}'}"
    return "was lost" if code is None else f"ended with exit code {code}"
