"""What is recorded of lesson 15: ten clients who know two digits each talk after every step, then after five epochs."""

from dlmini.lessons.volunteers.clients import CLIENTS, RATE, SKEWED, digits
from dlmini.optim import SGD
from dlmini.show.recordings.film import GIGABIT, Film, Scene

TEN = {**GIGABIT, "workers": CLIENTS, "steps": 500}

film = Film(
    None,
    (
        Scene(**TEN, sync="local:50", remark="FedAvg: five epochs of 200 digits"),
        Scene(**TEN, sync="bsp", remark="the same rows, a mean after every step"),
    ),
    task=lambda: digits(SKEWED),
    optimizer=SGD(RATE),
)
