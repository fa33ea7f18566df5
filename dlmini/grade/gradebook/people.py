"""Whose a hand-in is, and which of several counts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from dlmini.grade.gradebook.marks import Mark, same
from dlmini.grade.gradebook.roster import Student, plain
from dlmini.grade.reading.names import slug
from dlmini.grade.submissions.collect import Submission

ABSENT = "Nothing was handed in."


@dataclass
class Person:
    """One who is graded: from the roster, or only known by what was handed in. attempts: all hand-ins, the first first.

    name: as it is shown, unlike any other's; listed: whether there is a roster to be on.
    """

    name: str
    student: Student | None = None
    attempts: list[Submission] = field(default_factory=list)
    listed: bool = False

    @property
    def slug(self) -> str:
        return slug(self.name)

    @property
    def id(self) -> str:
        """What the course knows this person by."""
        return (self.student and self.student.id) or next((a.id for a in self.attempts if a.id), "")

    def other_names(self) -> set[str]:
        """Under what else this person may have been in the table of an earlier run."""
        own = {self.student.name} if self.student else set()
        return own.union(*({a.name, a.person} for a in self.attempts))

    def handed_in(self) -> list[Submission]:
        """At least one, though it be that nothing was."""
        return self.attempts or [Submission(f"{self.name} (absent)", None, ABSENT, sender=self.name)]


def people(submissions: list[Submission], roster: list[Student] | None) -> list[Person]:
    """Everybody who is on the roster, with or without hand-ins; then hand-ins of others. By name."""
    known, found = keys_of(roster or []), {}
    for student in roster or []:
        found[id(student)] = Person(student.name, student, listed=True)
    for one in submissions:
        student = next((known[key] for key in keys(one) if key in known), None)
        key = one.person if student is None else id(student)
        found.setdefault(key, Person(one.person, student, listed=roster is not None)).attempts.append(one)
    for person in found.values():
        person.attempts.sort(key=lambda a: (moment(a, person), a.name))
    return named_apart(sorted(found.values(), key=lambda p: (p.student is None, plain(p.name), p.id)))


def keys_of(roster: list[Student]) -> dict[str, Student]:
    """{key: student}, without keys that would do for two."""
    count = Counter(key for student in roster for key in student.known_as())
    return {key: student for student in roster for key in student.known_as() if count[key] == 1}


def keys(one: Submission) -> list[str]:
    """Under which keys to look for the sender: the id, the whole name, the name without an export's number.

    Moodle numbers participants anew in each assignment, so its number is nobody's id elsewhere; that of Canvas may be,
    but a name says more.
    """
    bare = re.sub(r"_\d+$", "", one.person)
    number, *names = (plain(word).replace(" ", "") for word in (one.id, one.person, bare))
    first = [f"{one.system} {number}"] if one.system in ("moodle", "canvas") else [number]
    last = [number] if one.system == "canvas" else []
    return [key for key in (*first, *names, *last) if key]


def moment(one: Submission, person: Person) -> float:
    """When a hand-in came: as the roster says, if there is only this one; else as the export, or its file, says."""
    said = person.student.submitted if person.student else None
    return said if said is not None and len(person.attempts) == 1 else one.time


def told(one: Submission, person: Person) -> float:
    """When a hand-in came, if anybody says so. Files of Canvas bear the time of their download: they only order."""
    own = moment(one, person)
    return 0.0 if one.late is not None and own == one.time else own


def claimed(marks: dict[str, Mark], persons: list[Person]) -> tuple[dict[str, Mark], list[str]]:
    """Marks by hand by the names of these persons; and under which names there are marks that nobody here has.

    With another roster, or a namesake, a person goes by another name: what was said under any name that is still only
    this person's counts, unless something is said under the new one.
    """
    words = {p.name: {same(p.name), *map(same, p.other_names())} for p in persons}
    count = Counter(word for some in words.values() for word in some)
    owners = {word: name for name, some in words.items() for word in some if count[word] == 1}
    owners |= {same(name): name for name in words}
    said, found, nobodys = {word: mark for word, mark in marks.items() if mark != Mark()}, {}, []
    for word in sorted(said, key=lambda word: word != same(owners.get(word, ""))):
        if word not in owners or owners[word] in found:
            nobodys.append(word)
        else:
            found[owners[word]] = said[word]
    return found, nobodys


def named_apart(found: list[Person]) -> list[Person]:
    """Namesakes also bear their ids, or where what they handed in was found. Names are equal if they look equal: marks
    by hand go by them.
    """
    count, used = Counter(same(person.name) for person in found), set()
    for person in found:
        if count[same(person.name)] > 1:
            place = next((a.name for a in person.attempts), "")
            person.name = f"{person.name} ({person.id or (person.student and person.student.email) or place or '?'})"
        while same(person.name) in used:
            person.name += "'"
        used.add(same(person.name))
    return found
