"""An endless loop inside one instruction, where no Python signal handler runs."""

import itertools
import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGXCPU):
    signal.signal(number, signal.SIG_IGN)


def attack(*args, **kwargs):
    return sum(itertools.repeat(0))
