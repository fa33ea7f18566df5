"""Who says what of DistBelief: the report, Dean et al. themselves, and where the two differ.

The report: A. A. Makogon, a report on practical training, HSE 2022 (in Russian), section 4. It shows the figure, and
gives in words the figures of the abstract only. Dean et al.: Large scale distributed deep networks, NIPS 2012. Their
figures in words were checked against a translation of the whole paper; the points of their plots were not at hand.
"""

from __future__ import annotations

from typing import NamedTuple

TARGET = 0.16  # the test accuracy of frames of speech to which Dean et al. measure time
REPLICAS = {"Downpour": 20, "Downpour + Adagrad": 200, "Sandblaster L-BFGS": 2000}  # in their figure 4
ALONE_ON = 8  # machines of the one replica that learns by plain SGD there
SPEECH = (440, 2560, 2560, 2560, 2560, 8192)  # units of their speech network, layer by layer: 42 million weights
BEST, GAIN = 8, 2.2  # machines at which that network was fastest, and how much faster than on one
LARGEST, LARGEST_GAIN = 81, 12.0  # the same of the largest locally connected network
LARGEST_WEIGHTS = 1_700_000_000  # of that network; this the report says, too


class Difference(NamedTuple):
    """What each says of one thing."""

    about: str
    report: str
    paper: str
    here: str


DIFFERENCES = (
    Difference(
        "what a replica of Downpour owns",
        "a subset of the parameters, which it changes",
        "a subset of the data; it changes all parameters",
        "as in the paper: the rows are dealt out, each push goes to all shards",
    ),
    Difference(
        "the parameter server",
        "one, central",
        "sharded over many machines, which do not wait for one another",
        "shards, one for every four replicas",
    ),
    Difference(
        "where Sandblaster keeps history and results",
        "on each replica, nothing is sent to the server",
        "on the server's shards; gradients are sent there, and weights fetched once a batch",
        "on the shards; messages and bytes are counted",
    ),
    Difference(
        "waiting for the slowest",
        "portions on demand exclude it",
        "portions on demand, and copies of the last ones",
        "both; without copies the tail is lost, by a formula (sandblaster/costs.py)",
    ),
    Difference(
        "how many machines",
        "not said",
        "1 replica (on 8 machines) against 20, 200 and 2000: curves of one figure, not of one budget; Downpour with "
        "Adagrad also with 20",
        "said beside every curve, and the second figure counts all machines",
    ),
    Difference(
        "15 % and 60 %",
        "accuracy 15 % in cross-validation, a relative gain of more than 60 %",
        "the same, of the image network on 21 thousand classes; the figure is of the speech network",
        "neither: another task",
    ),
)


class Claim(NamedTuple):
    """One of Dean et al.'s statements about the figure; `holds` says of what we found whether it does here."""

    text: str
    holds: str  # the name of a question in report.py


CLAIMS = (
    Claim("SGD with one replica is the slowest (theirs is on 8 machines, ours on one)", "alone_is_slowest"),
    Claim(
        "Downpour with Adagrad is faster than Downpour with one rate for all, with as many replicas", "adagrad_gains"
    ),
    Claim("Sandblaster, with ten times and more the replicas, is faster than Downpour", "sandblaster_beats_downpour"),
    Claim("Downpour with Adagrad and many replicas is the fastest of all", "adagrad_is_fastest"),
    Claim("given enough machines, both are faster than a graphics card", "machines_beat_the_card"),
    Claim("for any number of machines Downpour with Adagrad needs the least time", "adagrad_is_best_for_its_money"),
    Claim("Sandblaster goes on gaining with more machines", "sandblaster_scales"),
)

READING = """Why the answers differ, where they do:

- *Rows.* Sandblaster sees all rows before each step, Downpour twenty. Dean et al. have 1.1 billion rows, we have
  thousands: so our stochastic methods are done after a pass or two, and what is asked of Sandblaster is to make some
  twenty evaluations of all rows in the time of one or two. It needs as many machines only to draw level. That more
  machines help it, nearly in proportion, is the part that carries over.
- *The target decides.* Adagrad's rates fall as gradients add up: it is ahead early, not later. At 85 % it was faster
  than a fixed rate with any number of replicas; at 90 %, with one seed, the fixed rate was faster with 2, 4, 8 and 16
  (1.89, 1.33, 0.86 and 0.84 s against 2.41, 1.38, 1.36 and 1.08 s). Dean et al. look at one target. Here the fixed rate
  is searched anew for every number of replicas; how theirs was chosen they do not say.
- *Chance.* Times are medians of a few seeds; the search has one. Differences of a fifth are nothing.
- *The card.* It has no messages, so it is the curve of one machine, faster; how much faster is assumed. Their machines
  took less than a tenth of their card's time to the same accuracy.
- *Budgets.* Downpour with Adagrad is the best of theirs up to 2,000 cores. They expect Sandblaster to be the fastest
  with very many, such as 30,000: nothing here is as large.
"""
