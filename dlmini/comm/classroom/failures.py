"""From the answers of the ranks to a result, or to the exception that says best what went wrong, and on which PC."""

from __future__ import annotations

from typing import NamedTuple

from dlmini.comm.errors import CommError, RankFailed
from dlmini.comm.processes.workers.failures import (
    complete,
    deadlock,
    ended,
    quoted,
    raised,
    too_late,
)
from dlmini.comm.processes.workers.protocol import Died, Exited, Raised, Returned, Silent, Stopped


class Left(NamedTuple):
    """What the notebook notes when a PC is no longer there: how that was."""

    how: str


def named(members: list, rank: int) -> str:
    return f"rank {rank} ({members[rank].name})"


def lost_sentence(members: list, rank: int, answer: Died | Left) -> str:
    how = answer.how if isinstance(answer, Left) else ended(answer.code)
    return f"{named(members, rank)} {how}"


def broken_line(members: list, source: int, dest: int) -> RankFailed:
    text = f"the connection from {named(members, source)} to {named(members, dest)} broke, though both are there"
    return RankFailed(f"{text}: is the network between them sound?", dest)


def judged(job, late: bool) -> list[Returned]:
    """All answers by rank, empty ones for the lost; or raise for the first that is a failure."""
    answers = job.answers
    for rank, answer in answers.items():
        if rank not in job.lost and (error := failure(job, rank, answer)) is not None:
            raise error
    if not job.succeeded():
        known = {rank: answer for rank, answer in answers.items() if isinstance(answer, Returned | Stopped | Silent)}
        if job.stuck:
            raise deadlock(known)
        if late:
            raise too_late(known | missing(job), job.timeout)
        raise CommError("the run was given up")
    return complete(answers, job.lost)


def failure(job, rank: int, answer) -> BaseException | None:
    """The exception that this answer is; None if it is none, or only follows from another."""
    who = named(job.members, rank)
    if isinstance(answer, Raised):
        return raised(rank, answer, who)
    if isinstance(answer, Exited):
        return RankFailed(f"{who} left by sys.exit({answer.code})\n{answer.trace}", rank)
    if isinstance(answer, Died):
        return RankFailed(f"{who} {ended(answer.code)}{quoted(answer.words)}", rank, died=True)
    if isinstance(answer, Left):
        return RankFailed(f"{who} {answer.how}", rank, died=True)
    return None


def missing(job) -> dict[int, Silent]:
    """Who did not even say where it was."""
    return {rank: Silent("") for rank in range(job.size) if rank not in job.answers}
