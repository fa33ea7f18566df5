"""Right answers, then trouble at the end. On top of the solution."""

import atexit
import os
import signal
import sys

atexit.register(lambda: os.kill(os.getpid(), signal.SIGSTOP))
signal.signal(signal.SIGTERM, lambda *_: None)
sys.excepthook = lambda *_: os.abort()
print("much ado " * 1000)
