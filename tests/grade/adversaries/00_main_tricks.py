"""Replaces __main__, the runner and its pipes by its own."""

import sys
import types

fake = types.ModuleType("__main__")
fake.main = fake.host = fake.child = lambda *args, **kwargs: None
sys.modules["__main__"] = sys.modules["dlmini.grade.runner.host"] = sys.modules["dlmini.grade.runner.values"] = fake

frame = sys._getframe()
while frame is not None:
    for name in ("frame", "described", "Limits", "_write"):
        if name in frame.f_globals:
            frame.f_globals[name] = lambda *args, **kwargs: b"passed"
    frame = frame.f_back


def attack(*args, **kwargs):
    return None
