"""Work as data, and back: what a server tells its clients. And the bytes of weights, by which they are known."""

from __future__ import annotations

from dataclasses import fields
from hashlib import blake2b

from dlmini.checks import refuse
from dlmini.nn import ZOO
from dlmini.task import Classify, digest
from dlmini.volunteer.federated_work import FederatedWork, federated_of, word_of
from dlmini.volunteer.sets import SETS, pair
from dlmini.volunteer.work import Work

EXAMPLE = 'a task, or a Work, such as Work("lenet", units=20, iterations=5)'


def fingerprint(data: bytes) -> str:
    """What weights are known by on their way."""
    return blake2b(data, digest_size=16).hexdigest()


def work_of(plain) -> Work | FederatedWork:
    """The work that a server describes; whatever else it says is refused."""
    kinds = {frozenset(field.name for field in fields(kind)): kind for kind in (Work, FederatedWork)}
    kind = kinds.get(frozenset(plain)) if isinstance(plain, dict) else None
    if kind is None:
        names = " or by ".join(", ".join(sorted(names)) for names in kinds)
        raise ValueError(f"the work must be described by {names}, and by nothing else")
    return Work(**plain) if kind is Work else federated_of(plain)


def work_for(task, **how) -> Work | FederatedWork:
    """The work that a task comes to. With a strategy among `how`, or clients, it is a federation.

    Work travels as data, so the network must be one of the zoo and the rows a set that every installation has.
    """
    if isinstance(task, Work | FederatedWork):
        if how:
            raise TypeError(f"{', '.join(how)}: say it in the {type(task).__name__} itself")
        return task
    if not isinstance(task, Classify):
        refuse(TypeError, "task", task, EXAMPLE)
    known = {"model": model_of(task), "data": data_of(task), "batch": task.batch}
    if not {"strategy", "clients"} & {*how}:
        return Work(**known | how)
    return FederatedWork(**known | {"split": word_of(task.split)} | how)


def model_of(task: Classify) -> str:
    """The zoo's name of the network, if it is there."""
    mine = (repr(task.model.layers), task.model.input, repr(task.model.loss))
    for name, make in ZOO.items():
        try:
            its = make(input=task.model.input, classes=len(task.train.classes), loss=task.model.loss)
        except ValueError:  # it does not fit such rows
            continue
        if (repr(its.layers), its.input, repr(its.loss)) == mine:
            return name
    raise ValueError(f"volunteers get no code, so the network must be one of {', '.join(ZOO)}, as it stands there")


def data_of(task: Classify) -> str:
    mine = digest([task.train.x, task.train.y])
    for name in (one for one in SETS if task.train.name.partition("/")[0] == one):
        rows = pair(name)[0]
        if len(rows) == len(task.train) and digest([rows.x, rows.y]) == mine:
            return name
    raise ValueError(f"volunteers have {', '.join(SETS)} with all their rows; {task.train!r} is none of them")
