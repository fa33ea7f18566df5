"""The whole visit: everything measured and judged. A check that fails itself is a finding too, never a crash."""

from __future__ import annotations

from collections.abc import Callable

from dlmini import jit
from dlmini.doctor import machine, pool, software
from dlmini.doctor.finding import BROKEN, Finding, broken


def visit() -> list[Finding]:
    rooms: dict[str, Callable[[], list[Finding]]] = {
        "software": software.visit,
        "machine": lambda: machine.visit(jit.cache_root()),
        "pool": pool.visit,
    }
    return [finding for name, room in rooms.items() for finding in safely(name, room)]


def safely(name: str, room: Callable[[], list[Finding]]) -> list[Finding]:
    try:
        return room()
    except Exception as error:  # whatever is wrong with the machine, the other rows are worth having
        return [broken(name, f"{type(error).__name__}: {error}", "This check itself failed: please report it.")]


def ill(findings: list[Finding]) -> bool:
    return any(finding.status == BROKEN for finding in findings)
