"""What is recorded of lesson 07: the runs that its "Click" asks for."""

from dlmini.show.recordings.film import GIGABIT, SMALL, Film, Scene

film = Film(SMALL, tuple(Scene(**GIGABIT, sync=sync, workers=8, steps=800) for sync in ("bsp", "local:4", "local:16")))
