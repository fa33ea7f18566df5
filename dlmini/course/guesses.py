"""A guess: what is asked before an experiment, and how close an answer was to what the experiment then measured.

by ratio     the least possible answer is above 0      factor = max(guess / measured, measured / guess)
by range     any other number                          share  = |guess - measured| / (most - least)
by choice    one of several answers                    right or not
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from dlmini.checks import real, refuse, text

NAME = re.compile(r"\d\d\.[a-z][a-z0-9_]{0,59}")
ASKED = re.compile(r"""\bguess\(\s*["'](\d\d\.[a-z][a-z0-9_]*)["']""")
DOTS = "○◔◐●"  # from far off to close
LEGEND = (
    "● right, or within 20 % (of a range: 5 %) · ◐ within a factor of two (15 % of a range) · "
    "◔ the right order of magnitude (35 % of a range) · ○ further off"
)
# level -> by which factor, and by which share of the range, a guess may be off
FACTOR = {3: 1.2, 2: 2.0, 1: 10.0}
SHARE = {3: 0.05, 2: 0.15, 1: 0.35}
ROUNDING = 1 + 1e-12  # 6 for 5 is within 20 %, whatever binary fractions make of it


class Closeness(NamedTuple):
    level: int  # place in DOTS
    words: str


@dataclass(frozen=True)
class Question:
    """What is asked: a number `between` two others, or one `of` several words."""

    name: str
    text: str = ""
    unit: str = ""
    between: tuple[float, float] | None = None
    of: tuple[str, ...] = ()

    def accept(self, answer):
        """The answer as it is kept, or a sentence why it is none."""
        if self.of:
            if not isinstance(answer, str) or answer not in self.of:
                refuse(ValueError, f"the answer to {self.name}", answer, f"one of {', '.join(self.of)}")
            return answer
        return float(real(answer, f"the answer to {self.name}"))

    @property
    def by_ratio(self) -> bool:
        return self.between is not None and self.between[0] > 0

    def said(self, answer) -> str:
        """An answer with its unit."""
        return answer if isinstance(answer, str) else f"{number(answer)} {self.unit}".rstrip()


def number(value: float) -> str:
    """Four digits are enough to compare with a guess: 11,700, 0.25, 1.2e-07."""
    plain = value == 0 or 1e-4 <= abs(value) < 1e9
    return f"{float(f'{value:.4g}') + 0.0:,.12g}" if plain else f"{value:.3g}"


def question(name, asks, unit="", between=None, of=None) -> Question:
    """Checked: a name such as 07.accuracy_lost, and either a range or at least two different answers."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        refuse(ValueError, "the name of a guess", name, "a lesson and small letters, as in 07.accuracy_lost")
    if (between is None) == (of is None):
        raise ValueError(f"{name} asks for a number, between=(0, 30), or for a choice, of=(...): give one of them")
    asks, unit = text(asks, "question"), text(unit, "unit")
    if of is None:
        return Question(name, asks, unit, edges(name, between))
    return Question(name, asks, unit, None, answers(name, of))


def edges(name: str, between) -> tuple[float, float]:
    wanted = "two numbers, the least and the most that the answer may be"
    if not isinstance(between, tuple | list) or len(between) != 2:
        refuse(TypeError, f"between, in {name},", between, wanted)
    least, most = (real(edge, f"between, in {name},") for edge in between)
    return (least, most) if least < most else refuse(ValueError, f"between, in {name},", between, wanted)


def answers(name: str, of) -> tuple[str, ...]:
    wanted = "at least two different words"
    if not isinstance(of, tuple | list):
        refuse(TypeError, f"of, in {name},", of, wanted)
    words = tuple(text(word, f"an answer to {name}") for word in of)
    return words if len(set(words)) == len(words) > 1 else refuse(ValueError, f"of, in {name},", of, wanted)


# ---- how good a guess is ----


def closeness(asked: Question, guess, measured) -> Closeness:
    """A level from 0 to 3, and the same in words."""
    if isinstance(guess, str):
        return Closeness(3, "right") if guess == measured else Closeness(0, "not what was measured")
    if guess == measured:
        return Closeness(3, "exactly right")
    return by_ratio(guess, measured) if asked.by_ratio else by_range(guess, measured, asked.between)


def by_ratio(guess: float, measured: float) -> Closeness:
    if guess <= 0 or measured <= 0:
        return Closeness(0, "not even the sign is right")
    factor = max(guess / measured, measured / guess) / ROUNDING
    level = level_of(factor, FACTOR)
    if level == 3:
        return Closeness(3, f"within {per_cent(factor - 1)} %")
    far = f"off by a factor of {number(round(factor))}" if factor < 1e6 else "off by more than a million times"
    return Closeness(level, (far, "the right order of magnitude", "within a factor of two")[level])


def by_range(guess: float, measured: float, between) -> Closeness:
    least, most = between
    share = abs(guess - measured) / (most - least) / ROUNDING
    level = level_of(share, SHARE)
    words = ("far off", "in the right region", "near", "close")[level]
    apart = f"{100 * share:.0f} %" if share < 1 else "more than all"
    return Closeness(level, f"{words}: {apart} of the range apart")


def level_of(off: float, limits: dict[int, float]) -> int:
    return next((level for level, limit in limits.items() if off <= limit), 0)


def per_cent(off: float) -> int:
    return next(limit for limit in (1, 2, 5, 10, 20) if 100 * off <= limit * ROUNDING)


def asked_in(source: str) -> list[str]:
    """The names of the guesses that a text of Python asks for, in its order."""
    return list(dict.fromkeys(ASKED.findall(source)))
