"""What is recorded of lesson 03: the runs that its "Click" asks for."""

from dlmini.nn import lenet
from dlmini.show.recordings.film import KILLED, REAL, SLOWED, Film, Scene

film = Film(
    lenet,
    (
        Scene(**REAL, workers=1, steps=400),
        Scene(**REAL, workers=2, steps=400),
        Scene(**REAL, workers=4, steps=400),
        Scene(**REAL, **SLOWED, workers=4, steps=400),
        Scene(**REAL, **KILLED, workers=4, steps=400),
    ),
)
