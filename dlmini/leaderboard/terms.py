"""What an entry is told about a world, and what using the world costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass

# Nanoseconds per number to say and to hear it, at a machine of speed 1: rounded from what 2 million numbers took on one
# core. Charged by this table and never by a clock, so that the same entry always takes the same time.
ENCODING = {
    "none": 0.0,
    "half": 0.5,
    "bfloat16": 0.5,
    "int8": 1.0,
    "deflate": 60.0,
    "qsgd": 1.5,
    "one_bit": 1.5,
    "sign": 1.5,
    "efsign": 1.5,
    "terngrad": 1.5,
    "threshold": 1.5,
    "topk": 2.5,
    "randomk": 1.0,
    "strom": 2.0,
    "dgc": 3.0,
    "own": 10.0,
}
OTHERS = 10.0  # nanoseconds for a compressor that is not in the table


@dataclass(frozen=True)
class Terms:
    """All that `recipe(terms)` sees, as a dict.

    workers         how many learn; a recipe with servers gets one more machine for each
    numbers         of the network: the length of an update
    steps           that a worker may take, at most
    batch           images of a step
    step_seconds    of a machine of speed 1
    latency, bandwidth, upload, shared   of a cable (bytes per second; upload may be less), or of one shared channel
    seconds, megabytes, money            the budget: what comes after any of them is used up does not count
    machine_hour, gigabyte               what a machine costs by the hour, and the wire by what it carries
    failures        whether machines may slow down or die
    encoding        nanoseconds per number that saying and hearing it take, by the word of the compressor; one inside
                    another is added, and where a recipe names several, the dearest counts whenever one of them is used
    """

    workers: int
    numbers: int
    steps: int
    batch: int
    step_seconds: float
    latency: float
    bandwidth: float
    upload: float
    shared: bool
    seconds: float
    megabytes: float
    money: float
    machine_hour: float
    gigabyte: float
    failures: bool

    def as_dict(self) -> dict:
        return asdict(self) | {"encoding": dict(ENCODING)}

    def price(self, machines: int, seconds: float, nbytes: float) -> float:
        """money = machines x hours x machine_hour + gigabytes x gigabyte."""
        return machines * seconds / 3600 * self.machine_hour + nbytes / 1e9 * self.gigabyte

    def affords(self, machines: int, seconds: float, nbytes: float) -> bool:
        within = seconds <= self.seconds and nbytes <= 1e6 * self.megabytes
        return within and self.price(machines, seconds, nbytes) <= self.money
