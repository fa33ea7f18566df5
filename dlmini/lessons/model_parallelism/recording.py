"""What is recorded of lesson 12: the runs that its "Live" asks for. Four stages, left alone, one slowed, one killed."""

from dlmini import Adam
from dlmini.lessons.model_parallelism.splits import staged
from dlmini.show.recordings.film import GIGABIT, KILLED, SLOWED, Film, Scene

FOUR = {**GIGABIT, "workers": 4, "steps": 240}

film = Film(
    None,
    (
        Scene(**FOUR, remark="one_f_one_b, four stages"),
        Scene(**FOUR, **SLOWED),
        Scene(**FOUR, **KILLED),
    ),
    task=staged,
    optimizer=Adam(0.001),
)
