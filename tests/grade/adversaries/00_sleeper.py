"""Uses no processor time at all, for ever; and blocks all signals that can be blocked."""

import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.valid_signals()))


def attack(*args, **kwargs):
    while True:
        time.sleep(1000)
