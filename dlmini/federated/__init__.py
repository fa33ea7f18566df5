"""Federated learning: data stay where they are, weights travel.

    found = federate(task, Federation(Scaffold(rate=0.1, clients=20), clients=20, share=1.0), on=Simulated(5))

federation.py  clients, rounds, the server: a program over Comm     strategies.py  FedAvg and its family: one verb
local.py       a client's local round                               robust.py      in place of the mean, among liars
vertical.py    parties with different columns                       attacks.py     what liars send
transfer.py    a trunk that stays, a head that learns               secure.py      sums without seeing the summands
privacy.py     clipping, noise, and accounts of it                  outcomes.py    every rule against every attack
mixed.py       some rows are everybody's, the rest stay             described.py   a strategy as data, and back
"""

from dlmini.federated.federation import Federation, federate
from dlmini.federated.strategies import (
    FedAdagrad,
    FedAdam,
    FedAsync,
    FedAvg,
    FedBuff,
    FedProx,
    FedYogi,
    Scaffold,
)

__all__ = [
    "FedAdagrad",
    "FedAdam",
    "FedAsync",
    "FedAvg",
    "FedBuff",
    "FedProx",
    "FedYogi",
    "Federation",
    "Scaffold",
    "federate",
]
