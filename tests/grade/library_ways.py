"""Ways by which a program might come to a module of the library. HOUSE: where the library lies."""

import gc
import importlib
import importlib.util
import os
import subprocess
import sys
import types

HOUSE = ""


def by_import(name):
    return __import__(name, fromlist=["x"])


def without_the_finder(name):
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "Finder"]
    sys.path.insert(0, os.path.dirname(HOUSE))
    return importlib.import_module(name)


def by_path(name):
    """Past the finders, with a loader of one's own."""
    spec = importlib.util.spec_from_file_location(name, file_of(name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_reading(name):
    module = types.ModuleType(name)
    with open(file_of(name)) as file:
        exec(file.read(), vars(module))
    return module


def by_another_process(name):
    """Which is bound by the sandbox alone."""
    module = types.ModuleType(name)
    read = f"print(open({file_of(name)!r}).read())"
    exec(subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True).stdout, vars(module))
    return module


def file_of(name):
    path = HOUSE + name[len("dlmini") :].replace(".", "/")
    return next(p for p in (f"{path}.py", f"{path}/step.py", f"{path}/__init__.py") if not os.path.isdir(p))


def by_modules(name):
    return sys.modules[name]


def by_objects(name):
    for thing in gc.get_objects():
        if type(thing) is dict and thing.get("__name__") == name:
            return types.SimpleNamespace(**thing)
    raise LookupError(name)


def by_subclasses(name):
    todo, seen = [object], set()
    while todo:
        for kind in set(type.__subclasses__(todo.pop())) - seen:
            seen.add(kind)
            todo.append(kind)
            if kind.__module__ == name:
                function = next(f for f in vars(kind).values() if type(f) is types.FunctionType)
                return types.SimpleNamespace(**function.__globals__)
    raise LookupError(name)


def by_frames(name):
    frame = sys._getframe()
    while frame is not None:
        for thing in [*frame.f_globals.values(), *frame.f_locals.values()]:
            if getattr(thing, "__module__", "") == name and hasattr(thing, "__globals__"):
                return types.SimpleNamespace(**thing.__globals__)
        frame = frame.f_back
    raise LookupError(name)
