"""What the document says, and what it leaves open.

An *epoch* of six computers: each of them sees all 127 pictures, in steps of 24 for all, 4 each. That is our reading; it
gives 127 x 6 / 24 = 31.75 synchronisations, and the document's own "one epoch on 6 PCs is worth six on one".
The document's error of 0.5 is called accuracy in one place; 80 % came earlier, so it cannot be. Its optimiser and its
learning rate are not said.
"""

from typing import NamedTuple

PCS, TRAIN, TEST, SIDE, CLASSES = 6, 127, 30, 512, 6
BATCH = 24  # pictures in a step of all computers together
SYNCS = TRAIN * PCS / BATCH  # in an epoch of six computers
ALONE = 34.63  # seconds of an epoch on one computer
PARAMETERS, MIB = 2_183_990, 2**20
DEFLATE = 0.0067  # seconds to deflate the vector as int8
GIGABIT = 125e6  # bytes per second on the cable


class Column(NamedTuple):
    """One column of table 2: seconds of an epoch and of its synchronisation, the message in MiB, and its ratio."""

    name: str
    epoch: float
    synchronisation: float
    mib: float
    ratio: int

    @property
    def compute(self) -> float:
        return self.epoch - self.synchronisation

    @property
    def speed_up(self) -> float:
        """Six computers see six times as many pictures in an epoch."""
        return PCS * ALONE / self.epoch


TABLE = (
    Column("float32", 96.996, 68.7, 8.33, 1),
    Column("float16", 67.51, 40.6, 4.16, 2),
    Column("int8", 52.57, 21.5, 2.08, 4),
    Column("int8 + deflate", 43.62, 17.0, 0.04, 208),
)
SPEED_UPS = {"float32": 2.14, "int8 + deflate": 4.76}  # of six computers against one, as the document says them
DEFLATED = 52  # times smaller than int8 is the deflated int8
COMPUTE = sum(column.compute for column in TABLE) / len(TABLE)  # seconds of an epoch: 26.6 to 31.1

# Epochs until 80 % of the pixels are right (training set; 1 and 6 computers), and until the error is 0.5.
EPOCHS_TO_80, EPOCHS_TO_HALF = {1: 28, 6: 6}, {1: 48, 6: 9}
# By the size of a mini-batch, on one computer: epochs until the error is 0.5, and until 80 % of the test set.
BATCH_TO_HALF, BATCH_TO_80 = {1: 32, 24: 48}, {6: 31, 24: 36}
