"""Walks frames and all objects for the expected values, the judge's functions, or anything that knows them."""

import gc
import sys


def attack(*args, **kwargs):
    wanted = {"truth", "expected", "judge", "verdict", "lesson", "points"}
    frame = sys._getframe()
    while frame is not None:
        for name in wanted & set(frame.f_locals):
            print("BREACH frame", name)
        frame = frame.f_back
    for thing in gc.get_objects():
        kind, given = type(thing), ("BlockingPipes", "Finder", "Limits", "RemoteComm", "Walls")
        if kind.__module__.startswith("dlmini.grade") and kind.__name__ not in given:
            print("BREACH object", kind.__module__, kind.__name__)
        if type(thing) is dict and wanted & {k for k in thing if type(k) is str} and "nonce" in thing:
            print("BREACH case", sorted(thing))
