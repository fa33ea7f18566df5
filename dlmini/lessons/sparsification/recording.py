"""What is recorded of lesson 10: the runs that its "Click" asks for."""

from dlmini.show.recordings.film import GIGABIT, LARGEST, SMALL, THRESHOLD, Film, Scene

film = Film(
    SMALL,
    (
        Scene(**GIGABIT, compression=LARGEST, steps=1000),
        Scene(**GIGABIT, compression="none", steps=1000),
        Scene(**GIGABIT, topology="gossip:rotating", compression=THRESHOLD, steps=1000),
    ),
)
