"""What is recorded of lesson 06: the runs that its "Click" asks for."""

from dlmini.nn import lenet
from dlmini.show.recordings.film import REAL, SLOWED, Film, Scene

SERVED = {**REAL, **SLOWED, "topology": "server", "workers": 3, "steps": 300}

film = Film(lenet, tuple(Scene(**SERVED, sync=sync) for sync in ("async", "bsp", "ssp:3")))
