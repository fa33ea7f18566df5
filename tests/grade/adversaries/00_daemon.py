"""Leaves a process behind that has cut every tie to its parent, and goes on."""

import os
import time


def attack(*args, **kwargs):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(0.01)
            os._exit(0)
    return
