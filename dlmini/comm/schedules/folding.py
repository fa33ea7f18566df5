"""Any number of ranks for algorithms that want a special number: fold the extra ones away, and unfold afterwards.

Before: each extra rank (guest) gives its vector to a host, which adds it to its own. After: the host returns the sum.
Costs two more steps of the whole vector, and only for those ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dlmini.comm.schedules.step import NOBODY, Step, pick, whole


@dataclass(frozen=True)
class Fold:
    """`host(r)`: to whom guest r gives, or NOBODY; `guest(r)` the reverse; `number(r)`, `rank(v)` count the hosts."""

    host: Callable
    guest: Callable
    number: Callable
    rank: Callable

    def around(self, r, chunks: int, inner: Iterator[Step]) -> Iterator[Step]:
        yield Step(self.host(r), *whole(r, chunks), self.guest(r), *whole(r, chunks), True)
        yield from self.inside(r, inner)
        yield Step(self.guest(r), *whole(r, chunks), self.host(r), *whole(r, chunks), False)

    def inside(self, r, inner: Iterator[Step]) -> Iterator[Step]:
        """The hosts' steps, under their real numbers; guests do nothing."""
        away = self.host(r) != NOBODY
        for s in inner:
            yield s._replace(to=pick(away, NOBODY, self.rank(s.to)), source=pick(away, NOBODY, self.rank(s.source)))


def pairs(size: int, hosts: int) -> Fold:
    """The first 2 m ranks pair up, m = size - hosts: even gives to odd (Rabenseifner 2004)."""
    m = size - hosts
    return Fold(
        host=lambda r: pick((r < 2 * m) & (r % 2 == 0), r + 1, NOBODY),
        guest=lambda r: pick((r < 2 * m) & (r % 2 == 1), r - 1, NOBODY),
        number=lambda r: pick(r < 2 * m, r // 2, r - m),
        rank=lambda v: pick(v < m, 2 * v + 1, v + m),
    )


def tail(size: int, hosts: int, width: int) -> Fold:
    """The ranks from `hosts` on, at most `width` of them, give to the last `width` hosts."""
    return Fold(
        host=lambda r: pick(r >= hosts, r - width, NOBODY),
        guest=lambda r: pick((r < hosts) & (r + width >= hosts) & (r + width < size), r + width, NOBODY),
        number=lambda r: r,
        rank=lambda v: v,
    )
