"""Everybody waits for everybody: after each step, or after `steps` local steps."""

from dataclasses import dataclass
from typing import ClassVar

from dlmini.checks import settle, whole, word
from dlmini.sync.sync import Sync


@dataclass(frozen=True)
class BulkSynchronous(Sync):
    """Talk after every step.

        w -= optimiser(mean over workers of the gradient)
    The raw gradient travels and the optimiser acts on the mean, so N workers with batches of B do exactly what one
    worker with a batch of N B would do. One exchange per step.
    Valiant, A bridging model for parallel computation, 1990.
    """

    word = "bsp"
    shown = (("every step (bulk-synchronous)", {}),)


@dataclass(frozen=True)
class LocalSGD(Sync):
    """Learn alone for `steps` steps, then average what was learned.

        w -= mean over workers of the change that each made
    The optimiser acts in each worker, the change of weights travels: one exchange per `steps` steps.
    textbook: step, then average; with steps=1 and SGD it is BulkSynchronous.
    seed: average the weights before the last step, then take that step alone (Tolstobrov 2022, Algorithm 1); workers
    always differ by one step. post: until round `post` talk after every step (post-local SGD, Lin et al. 2020).
    With an outer optimiser, such as Nesterov(0.7, 0.9), it is DiLoCo (Douillard et al. 2023).
    Stich, Local SGD converges fast and communicates little, 2019.
    """

    word = "local"
    tried = ({"steps": 2}, {"steps": 2, "variant": "seed"}, {"steps": 2, "post": 1})
    shown = (
        ("every 4 steps (Local-SGD)", {"steps": 4}),
        ("every 16 steps (Local-SGD)", {"steps": 16}),
        ("every 32 steps (Local-SGD)", {"steps": 32}),
    )
    steps: int = 4
    variant: str = "textbook"
    post: int = 0
    local: ClassVar[bool] = True

    def __post_init__(self):
        settle(self, steps=whole(self.steps, "steps", 1), post=whole(self.post, "post", 0))
        word(self.variant, "variant", ("textbook", "seed"))

    @property
    def late(self) -> bool:
        return self.variant == "seed"

    def period(self, t: int) -> int:
        return 1 if t < self.post else self.steps
