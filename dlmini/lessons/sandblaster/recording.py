"""What is recorded of lesson 13: equal replicas; one ten times slower, waited for and copied; one killed half-way."""

from dlmini.sandblaster import Sandblaster
from dlmini.show.recordings.film import GIGABIT, KILLED, SMALL, Film, Scene

FOUR = {**GIGABIT, "workers": 4, "looks": 30}
SLOW = {**FOUR, "slow": {1: 10.0}}


def sandblaster(backup: bool = True) -> Sandblaster:
    return Sandblaster(history=5, portions=16, backup=backup, shards=2, rounds=30, tolerance=0)


film = Film(
    SMALL,
    (
        Scene(**FOUR, method=sandblaster(), remark="all equal"),
        Scene(**SLOW, method=sandblaster(backup=False), remark="everybody waits for rank 1"),
        Scene(**SLOW, method=sandblaster(), remark="copies of what rank 1 has"),
        Scene(**FOUR, method=sandblaster(), **KILLED),
    ),
)
