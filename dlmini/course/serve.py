"""`python -m dlmini.course.serve ...`: JupyterLab as a process that never outlives the one that started it.

The parent holds the other end of our standard input and never writes to it. When it closes that, or ends in whatever
way, reading ends here, and the server shuts down with its kernels and terminals, and takes its temporary files along.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from pathlib import Path

STDIN = 0
PATIENCE = 15.0  # seconds to shut down in good order


def main() -> None:
    from jupyterlab.labapp import LabApp

    threading.Thread(target=end_with_parent, daemon=True).start()
    LabApp.launch_instance(sys.argv[1:])
    shutil.rmtree(Path(os.environ["JUPYTER_RUNTIME_DIR"]).parent, ignore_errors=True)


def end_with_parent() -> None:
    while os.read(STDIN, 1):  # not sys.stdin: Python could not end while a thread reads from that
        pass
    from jupyter_server.serverapp import ServerApp

    if ServerApp.initialized() and hasattr(ServerApp.instance(), "io_loop"):
        server = ServerApp.instance()
        server.io_loop.add_callback(server.stop)
        time.sleep(PATIENCE)
    os._exit(1)  # it was still starting, or something in it hangs


if __name__ == "__main__":
    main()
