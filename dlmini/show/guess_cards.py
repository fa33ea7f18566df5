"""`guess` before an experiment, `see` after it: what was expected beside what was measured.

    guess("07.accuracy_lost", "How many points of accuracy does p = 64 cost?", unit="points", between=(0, 30))
    guess("04.fastest", "Which is fastest for 1 kB?", of=("ring", "tree", "star"))
    ...
    see("07.accuracy_lost", 100 * (best - found))
A widget where there are any; without them the same by hand: guess("07.accuracy_lost", 5). Whoever does not guess is not
held up. What is kept lies with the student's progress and goes nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import isfinite

from dlmini.checks import refuse
from dlmini.course import guess_record, guesses
from dlmini.course.guesses import Question
from dlmini.show.laws import number
from dlmini.show.palette import BAD, BLUE, GOOD, GREY, ORANGE

COLOURS = (BAD, ORANGE, BLUE, GOOD)  # by level
NONE = "no guess this time"
CARD = (
    '<div class="dlmini-see" style="display:inline-block;min-width:18em;max-width:48em;margin:4px;padding:8px 14px;'
    "border-left:8px solid {colour};background:var(--jp-layout-color2,#f6f6f6);"
    'color:var(--jp-content-font-color0,#000);font-family:sans-serif;border-radius:4px">'
    "<b>{title}</b><br>{facts}<br>"
    '<span style="opacity:.75">{verdict}</span></div>'
)
_asked: dict[str, Question] = {}  # in this session
_unsaved: dict[str, float | str | None] = {}  # guesses that the disk did not take


def guess(name: str, question, unit: str = "", between=None, of=None):
    """Ask for a guess; or, with neither `between` nor `of`, give one: guess("07.accuracy_lost", 5).

    name: lesson and name, unique in the lesson. between: the least and the most that a number may be; if the least is
    above 0, the guess is judged by its ratio; between whole numbers the slider moves by whole numbers. of: the answers
    to choose from.
    """
    if between is None and of is None:
        return given_by_hand(name, question)
    asked = _asked[name] = guesses.question(name, question, unit, between, of)
    try:
        from dlmini.show.guess_widget import Ask
    except ImportError:
        return Asked(asked)
    return Ask(asked, Asked(asked), standing(asked), give)


def see(name: str, measured) -> Card:
    """The card that sets the guess beside what was measured: a number, or one of the question's answers."""
    asked = question_of(name)
    measured = plain(asked, measured)
    try:
        guess_record.meet(asked, measured)
    except OSError as error:
        return Card(asked, standing(asked), measured, f"not kept: {error}")
    return Card(asked, standing(asked), measured)


def plain(asked: Question, measured) -> float | str:
    """As the question wants it. NaN too: whoever measured nothing sees so."""
    name = f"what was measured for {asked.name}"
    if asked.of and not (isinstance(measured, str) and measured in asked.of):
        refuse(ValueError, name, measured, f"one of {', '.join(asked.of)}")
    free = not asked.of and not asked.between  # nobody has asked: whatever it is, it is shown
    return measured if asked.of or (free and isinstance(measured, str)) else number(measured, name)


def question_of(name: str) -> Question:
    """As it was asked here or, if that cell was not run, earlier; otherwise only its name is known."""
    if not isinstance(name, str) or not guesses.NAME.fullmatch(name):
        refuse(ValueError, "the name of a guess", name, "a lesson and small letters, as in 07.accuracy_lost")
    found = None if name in _asked else guess_record.kept(name)
    return _asked.get(name) or (found.question if found else Question(name, name))


class Words(str):
    """Shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def given_by_hand(name: str, answer) -> Words:
    asked = question_of(name)
    if not asked.between and not asked.of:
        raise ValueError(
            f"{name} has not been asked yet, between=... or of=...; run the cell that asks, then this one again"
        )
    return Words(give(asked, answer))


def give(asked: Question, answer) -> str:
    """Keep a guess; what to tell who gave it. A disk that refuses costs the record, not the card."""
    answer = None if answer is None else asked.accept(answer)
    _unsaved.pop(asked.name, None)
    try:
        guess_record.give(asked, answer)
    except OSError as error:
        _unsaved[asked.name] = answer
        return f"noted for now: {asked.said(answer)}; {error}" if answer is not None else NONE
    return f"noted: {asked.said(answer)}" if answer is not None else "no guess yet"


def standing(asked: Question):
    """The guess that is in force; None if there is none."""
    return _unsaved[asked.name] if asked.name in _unsaved else guess_record.given(asked)


@dataclass(frozen=True)
class Asked:
    """A question as text: what a terminal shows, and paper."""

    question: Question

    def __repr__(self) -> str:
        asked = self.question
        choices = f"One of: {', '.join(asked.of)}." if asked.of else f"{self.range}."
        how = f'guess("{asked.name}", {"your answer, in quotes" if asked.of else "your number"})'
        return f"{asked.text} {choices} To guess, run {how}."

    @property
    def range(self) -> str:
        least, most = self.question.between
        return f"Between {guesses.number(least)} and {self.question.said(most)}"

    def _repr_html_(self) -> str:
        asked = self.question
        room = " &ensp; ".join(f"☐ {escape(word)}" for word in asked.of) or f"{'_' * 12} {escape(asked.unit)}"
        return f'<div class="dlmini-asked"><b>Your guess.</b> {escape(asked.text)} &ensp; {room}</div>'


@dataclass(frozen=True)
class Card:
    """Guess and measurement."""

    question: Question
    guess: float | str | None
    measured: float | str
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.guess is None:
            return NONE
        return self._closeness.words if self._closeness else "nothing to compare with"

    @property
    def _closeness(self):
        comparable = self.guess is not None and (isinstance(self.measured, str) or isfinite(self.measured))
        return guesses.closeness(self.question, self.guess, self.measured) if comparable else None

    @property
    def facts(self) -> list[tuple[str, str]]:
        said = self.question.said
        guessed = [] if self.guess is None else [("you guessed", said(self.guess))]
        return [*guessed, ("measured", said(self.measured))]

    def _repr_html_(self) -> str:
        found = self._closeness
        dot = f"{guesses.DOTS[found.level]} " if found else ""
        facts = " · ".join(f"{word} <b>{escape(value)}</b>" for word, value in self.facts)
        words = {"title": escape(self.question.text), "facts": facts, "verdict": dot + escape(self._said())}
        return CARD.format(colour=COLOURS[found.level] if found else GREY, **words)

    def _said(self) -> str:
        return "; ".join(filter(None, (self.verdict, self.note)))

    def __repr__(self) -> str:
        facts = ", ".join(f"{word} {value}" for word, value in self.facts)
        return f"{self.question.text} {facts}: {self._said()}"
