"""One work unit's life: a state machine without clock, network or disk.

    unit, orders = transition(unit, event)
A unit is sent out in several copies, because hosts vanish, fail and lie. The rules are those of BOINC's transitioner:

    successes >= quorum, and something new      ask the validator
    errors > max_error                          give the unit up
    needed = target - unsent - sent - successes
        needed > 0                              make that many more copies, max_total in all
        and no more may be made                 give it up, once nobody is at it
Invalid copies never count as successes (BOINC once did that: its issue 1005). A copy without an answer is no error of
the unit's: it says something of the host alone, and counts among max_total.
Anderson, BOINC: a platform for volunteer computing, Journal of Grid Computing 18, 2020.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import NamedTuple

from dlmini.checks import real, settle, truth, whole

UNSENT, SENT = "unsent", "sent"
SUCCESS, ERROR, NO_REPLY, INVALID, NOT_NEEDED = "success", "error", "no reply", "invalid", "not needed"
STATES = (UNSENT, SENT, SUCCESS, ERROR, NO_REPLY, INVALID, NOT_NEEDED)
NOBODY = -1


@dataclass(frozen=True)
class Terms:
    """How often a unit may be tried, and how many answers must agree.

    quorum       successes that are compared          max_error    more errors than this, and it is given up
    target       copies made at first                 max_success  more successes without agreement: given up
    delay        seconds until a copy's deadline      max_total    copies made at most
    adaptive     one copy is enough from a host that has long been right (see hosts.py)
    alike        copies go to hosts of one kind only, where equal work gives equal bits
    """

    quorum: int = 2
    target: int = 2
    max_error: int = 3
    max_total: int = 6
    max_success: int = 4
    delay: float = 7 * 86400.0
    adaptive: bool = False
    alike: bool = False

    def __post_init__(self):
        counts = ("quorum", "target", "max_total", "max_success")
        settle(self, **{name: whole(getattr(self, name), name, 1) for name in counts})
        settle(self, max_error=whole(self.max_error, "max_error", 0))
        settle(self, delay=real(self.delay, "delay", above=0, hint="seconds"))
        settle(self, adaptive=truth(self.adaptive, "adaptive"), alike=truth(self.alike, "alike"))
        if not self.quorum <= self.target <= self.max_success <= self.max_total or self.max_error > self.max_total:
            raise ValueError(
                f"quorum {self.quorum}, target {self.target}, max_success {self.max_success}, max_error "
                f"{self.max_error}, max_total {self.max_total}: they must obey quorum <= target <= max_success <= "
                "max_total and max_error <= max_total, or a unit could never end well"
            )

    def plain(self) -> list:
        return list(astuple(self))


class Copy(NamedTuple):
    """One copy of a unit, with one host."""

    state: str = UNSENT
    host: int = NOBODY
    deadline: float = 0.0


class Unit(NamedTuple):
    """A piece of work and all its copies. What it is about stands elsewhere: here only its number matters."""

    number: int
    terms: Terms
    target: int
    quorum: int
    copies: tuple[Copy, ...] = ()
    canonical: int = NOBODY  # the copy whose answer is the unit's
    failed: str = ""  # why it was given up
    fresh: bool = False  # a success has come since the validator was asked
    asked: bool = False  # the validator has been asked, and has not answered yet

    @property
    def over(self) -> bool:
        return self.canonical != NOBODY or self.failed != ""

    @property
    def states(self) -> list[str]:
        return [copy[0] for copy in self.copies]

    def count(self, *states: str) -> int:
        return sum(map(self.states.count, states))

    def having(self, state: str) -> tuple[int, ...]:
        return tuple([k for k, one in enumerate(self.states) if one == state])


class Sent(NamedTuple):
    copy: int
    host: int
    deadline: float
    trusted: bool = False


class Reported(NamedTuple):
    copy: int
    ok: bool


class Expired(NamedTuple):
    copy: int


class Judged(NamedTuple):
    """The validator's word: who agrees with the canonical copy and who does not; NOBODY: no agreement yet."""

    canonical: int
    valid: tuple[int, ...] = ()
    invalid: tuple[int, ...] = ()


class Offer(NamedTuple):
    """Order: these copies wait for hosts."""

    unit: int
    copies: tuple[int, ...]


class Validate(NamedTuple):
    """Order: compare the answers of these copies."""

    unit: int
    copies: tuple[int, ...]
    quorum: int


class Accept(NamedTuple):
    """Order: the answer of this copy is the unit's. Given once in a unit's life."""

    unit: int
    copy: int


class GiveUp(NamedTuple):
    """Order: this unit will have no answer."""

    unit: int
    why: str


def begin(number: int, terms: Terms) -> tuple[Unit, list]:
    """A new unit, and the order to offer its first copies. An adaptive one begins with a single copy."""
    first = (1, 1) if terms.adaptive else (terms.target, terms.quorum)
    return decide(Unit(number, terms, *first))


def transition(unit: Unit, event) -> tuple[Unit, list]:
    """What has become of a unit, and what is to be done. Pure: the same unit and event give the same answer."""
    after, orders = decide(apply(unit, event))
    if after.over and not unit.over:
        orders.append(GiveUp(unit.number, after.failed) if after.failed else Accept(unit.number, after.canonical))
    return after, orders


def apply(unit: Unit, event) -> Unit:
    """The event itself, before anything is decided. A copy whose unit is over is not needed, whatever it says."""
    if isinstance(event, Judged):
        return judged(unit, event)
    old = unit.copies[event.copy]
    if isinstance(event, Sent):
        unit = replaced(unit, event.copy, Copy(SENT, event.host, event.deadline))
        if unit.terms.adaptive and not event.trusted:  # a stranger's answer needs others beside it
            unit = unit._replace(target=max(unit.target, unit.terms.target), quorum=unit.terms.quorum)
        return unit
    if isinstance(event, Expired):
        return replaced(unit, event.copy, Copy(NO_REPLY, old.host, old.deadline))
    state = NOT_NEEDED if unit.over else SUCCESS if event.ok else ERROR
    return replaced(unit, event.copy, Copy(state, old.host, old.deadline), unit.fresh or state == SUCCESS)


def judged(unit: Unit, event: Judged) -> Unit:
    """With a canonical copy the unit is done. Without one, one more copy is wanted, unless there are too many."""
    unit, successes = unit._replace(asked=False), unit.having(SUCCESS)
    if event.canonical == NOBODY:
        if len(successes) > unit.terms.max_success:
            return unit._replace(failed=f"{len(successes)} answers, and no agreement")
        return unit._replace(target=max(unit.target, len(successes) + 1))
    for copy in event.invalid:
        unit = replaced(unit, copy, unit.copies[copy]._replace(state=INVALID))
    return unit._replace(canonical=event.canonical)


def decide(unit: Unit) -> tuple[Unit, list]:
    """The transitioner's rules, in order."""
    states = unit.states
    errors, successes = states.count(ERROR) + states.count(INVALID), states.count(SUCCESS)
    if not unit.over and errors > unit.terms.max_error:
        unit = unit._replace(failed=f"{errors} errors, more than {unit.terms.max_error}")
    if unit.over:
        return dropped(unit), []
    orders = []
    if unit.fresh and not unit.asked and successes >= unit.quorum:
        orders.append(Validate(unit.number, unit.having(SUCCESS), unit.quorum))
        unit = unit._replace(fresh=False, asked=True)
    needed = unit.target - states.count(UNSENT) - states.count(SENT) - successes
    return more_copies(unit, needed, orders) if needed > 0 else (unit, orders)


def more_copies(unit: Unit, needed: int, orders: list) -> tuple[Unit, list]:
    """As many as are needed and may be made. When none may, hope lasts as long as a host or the validator is at it."""
    first = len(unit.copies)
    if made := min(needed, unit.terms.max_total - first):
        unit = unit._replace(copies=unit.copies + (Copy(),) * made)
        orders.append(Offer(unit.number, tuple(range(first, first + made))))
    elif not unit.asked and not unit.count(UNSENT, SENT):
        unit = unit._replace(failed=f"{first} copies made, and too few good answers")
    return unit, orders


def dropped(unit: Unit) -> Unit:
    """What was not sent yet is not needed any more."""
    if UNSENT not in unit.states:
        return unit
    return unit._replace(copies=tuple(c._replace(state=NOT_NEEDED) if c.state == UNSENT else c for c in unit.copies))


def replaced(unit: Unit, k: int, copy: Copy, fresh: bool | None = None) -> Unit:
    """With another copy k. (Written out: `_replace` takes several times as long, and this is asked at every event.)"""
    number, terms, target, quorum, copies, canonical, failed, was, asked = unit
    copies = (*copies[:k], copy, *copies[k + 1 :])
    return Unit(number, terms, target, quorum, copies, canonical, failed, was if fresh is None else fresh, asked)
