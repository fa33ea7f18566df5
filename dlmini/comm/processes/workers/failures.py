"""From the answers of the ranks to a result, or to the exception that says best what went wrong, and on which rank."""

from __future__ import annotations

import pickle
import signal
from typing import NamedTuple

from dlmini.comm.base import GIVEN_UP
from dlmini.comm.errors import Deadlock, RankFailed
from dlmini.comm.processes.workers.pool import Pool
from dlmini.comm.processes.workers.protocol import Died, Exited, Raised, Returned, Silent, Stopped
from dlmini.comm.real_transports import unreceived
from dlmini.events import Phases

NOTHING_LEFT = Returned(pickle.dumps(None), [], Phases(), {})


class Wait(NamedTuple):
    """One waiting rank: what it does, whom it waits for, and where in its program."""

    rank: int
    what: str
    on: tuple[int, ...]
    where: str


def judge(pool: Pool, timeout: float | None) -> list[Returned]:
    """All answers by rank, empty ones for the lost; or raise for the first that is a failure."""
    answers = pool.answers
    for rank, answer in answers.items():
        if isinstance(answer, Raised):
            raise raised(rank, answer)
        if isinstance(answer, Exited):
            raise RankFailed(f"rank {rank} left by sys.exit({answer.code})\n{answer.trace}", rank)
        if isinstance(answer, Died) and rank not in pool.lost:
            raise RankFailed(f"rank {rank} {ended(answer.code, answer.hung)}{quoted(answer.words)}", rank, died=True)
    if not pool.succeeded():
        raise deadlock(answers) if pool.stuck else too_late(answers, timeout)
    return complete(answers, pool.lost)


def complete(answers: dict[int, Returned], lost: set[int]) -> list[Returned]:
    """The answers by rank, empty ones for the lost; but nothing may lie unread that one could have known of."""
    found = [answers[rank] if rank not in lost else NOTHING_LEFT for rank in sorted(answers.keys() | lost)]
    found = [answer._replace(unread=without(answer.unread, lost)) for answer in found]
    if any(answer.unread for answer in found):
        raise unreceived(answer.unread for answer in found)
    return found


def without(unread: dict[tuple[int, int], int], lost: set[int]) -> dict[tuple[int, int], int]:
    """Unread messages, but for those of who is lost: nobody could know that they would still come."""
    return {key: count for key, count in unread.items() if key[0] not in lost}


def raised(rank: int, answer: Raised, called: str = "") -> BaseException:
    """The rank's own exception, with the rank (or what it is called) and its traceback as a note."""
    error = pickle.loads(answer.error) if answer.error else RankFailed(answer.text, rank)
    called = called or f"rank {rank}"
    if isinstance(error, MemoryError):
        error = RankFailed(f"{called} ran out of memory ({answer.text})", rank)
    error.add_note(f"raised on {called}:\n{answer.trace}")
    return error


def ended(code: int | None, hung: bool = False) -> str:
    """A sentence about an exit code."""
    if hung:
        return "hung: its process was stopped (SIGSTOP) and did not go on, so it was ended"
    if code == GIVEN_UP:
        return "gave itself up: it could not go on without a rank that had died"
    if code is None or code >= 0:
        return f"ended with exit code {code}, without an answer"
    name = signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else f"signal {-code}"
    hint = "; if nobody did that on purpose, the machine ran out of memory" if name == "SIGKILL" else ""
    return f"was killed by {name} (exit code {code}){hint}"


def too_late(answers: dict[int, object], timeout: float | None) -> RankFailed:
    """Time is up: who did not even stop when told to is the likely culprit."""
    guilty = [rank for rank, answer in answers.items() if isinstance(answer, Silent)]
    slow = guilty or [rank for rank, answer in answers.items() if isinstance(answer, Stopped)]
    names = ", ".join(map(str, sorted(slow)))
    return RankFailed(f"not finished after {timeout} s: rank {names}\n{whereabouts(answers)}", min(slow))


def deadlock(answers: dict[int, object]) -> Deadlock:
    waits = [Wait(rank, *answer) for rank, answer in sorted(answers.items()) if isinstance(answer, Stopped)]
    return Deadlock(f"all ranks wait, and nothing can happen any more\n{whereabouts(answers)}", waits)


def whereabouts(answers: dict[int, object]) -> str:
    """Where each rank was when the run was given up."""
    lines = []
    for rank, answer in sorted(answers.items()):
        if isinstance(answer, Stopped):
            lines.append(f"rank {rank} {answer.what or 'has finished'}: {answer.where}")
        elif isinstance(answer, Silent):
            lines.append(f"rank {rank} is {'stopped (SIGSTOP)' if answer.stopped else 'busy'}{quoted(answer.words)}")
        elif isinstance(answer, Died):
            lines.append(f"rank {rank} {ended(answer.code, answer.hung)}")
        else:
            lines.append(f"rank {rank} has finished")
    return "\n".join(lines)


def quoted(words: str) -> str:
    return f":\n{words.strip()}" if words else ""
