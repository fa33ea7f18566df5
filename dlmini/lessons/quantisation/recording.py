"""What is recorded of lesson 09: the runs that its "Click" asks for."""

from dlmini.nn import lenet
from dlmini.show.recordings.film import GIGABIT, ONE_BIT, Film, Scene

film = Film(lenet, tuple(Scene(**GIGABIT, compression=brief, steps=1000) for brief in ("none", "int8", ONE_BIT)))
