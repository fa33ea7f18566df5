"""How many examples a property is tried on, and whether they are new ones.

Usually the same few every time, so that a change that passed here passes elsewhere. In the long form (DLMINI_LONG=1)
many more, drawn anew every time: a property that fails prints its example, and `.hypothesis` keeps it for the next run.
"""

import os

from hypothesis import HealthCheck, settings

LONG = os.environ.get("DLMINI_LONG") == "1"
USUAL, MORE = 100, 20

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile(
    "usual", max_examples=USUAL, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "long", settings.get_profile("usual"), max_examples=USUAL * MORE, derandomize=False, print_blob=True
)


def examples(usually: int, **more) -> settings:
    """@examples(60): as many, and in the long form more."""
    return settings(max_examples=usually * MORE if LONG else usually, **more)
