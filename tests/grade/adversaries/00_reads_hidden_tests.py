"""Looks for the tests, the solutions and the judge's modules, on disk and in memory. Needs: bwrap."""

import contextlib
import importlib
import os
import sys


def attack(*args, **kwargs):
    import dlmini

    house = os.path.dirname(dlmini.__file__)
    for folder in (f"{house}/lessons", f"{house}/../solutions", f"{house}/../tests", f"{house}/../exercises"):
        try:
            for name in os.listdir(folder):
                print("BREACH", folder, name)
        except OSError:
            pass
    for name in list(sys.modules):
        if name.startswith("dlmini.lessons") and getattr(sys.modules[name], "__file__", None):
            print("BREACH", name)
    with contextlib.suppress(ImportError):
        print("BREACH", importlib.import_module("dlmini.lessons.meet_the_lab.grading").lesson)
