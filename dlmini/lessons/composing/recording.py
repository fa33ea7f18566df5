"""What is recorded of lesson 11: the runs that its "Click" asks for."""

from dlmini.show.recordings.film import GIGABIT, SMALL, THRESHOLD, Film, Scene

NINTH = {"sync": "local:16", "topology": "gossip:rotating", "compression": THRESHOLD}

# Of the ten configurations of Tolstobrov 2022 the first (Local-SGD that meets after every step is bulk-synchronous
# training, lesson 07), the ninth and the tenth.
film = Film(
    SMALL,
    (
        Scene(**GIGABIT, workers=8, steps=800, remark="configuration 1"),
        Scene(**GIGABIT, **NINTH, workers=8, steps=800, remark="configuration 9"),
        Scene(**GIGABIT, sync="local:32", workers=8, steps=800, remark="configuration 10"),
    ),
)
