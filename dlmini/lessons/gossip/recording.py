"""What is recorded of lesson 08: the runs that its "Click" asks for."""

from dlmini.show.recordings.film import SMALL, Film, Scene

film = Film(
    SMALL,
    tuple(
        Scene(topology=topology, workers=16, steps=400)
        for topology in ("gossip:ring", "gossip:ring,what=weights", "gossip:rotating")
    ),
)
