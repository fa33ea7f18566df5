"""Right answers, and threads and processes that stay. On top of the solution."""

import os
import threading
import time

threading.Thread(target=time.sleep, args=(1000,)).start()
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
