"""Looks for the tests, the solutions and the judge's modules, on disk and in memory. Needs: bwrap."""

import contextlib
import importlib
import os
import sys


def attack(*args, **kwargs):
    frame = sys._getframe()
    while "runner" not in frame.f_code.co_filename:
        frame = frame.f_back
    house = os.path.dirname(os.path.dirname(os.path.dirname(frame.f_code.co_filename)))
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
