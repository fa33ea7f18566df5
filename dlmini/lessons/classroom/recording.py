"""What is recorded of lesson 14: the runs of its last section, the star as int8 and everybody in full."""

from dlmini.lessons.classroom.room import NORMAL
from dlmini.show.recordings.film import GIGABIT, Film, Scene

SIX = {**GIGABIT, "workers": 6, "steps": 144}

film = Film(
    None,
    (
        Scene(**SIX, topology="star:int8", compression="8 bits (int8)", remark="the document's protocol"),
        Scene(**SIX, topology="allreduce", remark="nothing rounded"),
    ),
    task=NORMAL.task,
    optimizer=NORMAL.optimizer,
)
