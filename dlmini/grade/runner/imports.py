"""What a student's program may import: the standard library, the packages of its exercise, and nothing else.

The rest is refused in three ways. The finder refuses by name, with a sentence. What the process itself was made of is
forgotten, and files of the library may not be opened: this holds also where no sandbox hides them. An import at the top
of a file is no error yet, for many a file begins with a plot library that its functions do not use: its names stand for
what is absent, and say so when they are used.
"""

from __future__ import annotations

import ast
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
STANDARD = [os.path.dirname(os.__file__)]  # also what is in no list of names, such as _sysconfigdata_...


def sentence(name: str, packages: tuple[str, ...]) -> str:
    given = ", ".join({"numpy": "NumPy"}.get(package, package) for package in packages)
    return (
        f"{name} is not there when an exercise is checked: use the standard library, {given}, and the given arguments"
    )


def allowed(name: str, packages: tuple[str, ...]) -> bool:
    root = name.partition(".")[0]
    if root in sys.stdlib_module_names or root in packages or root == "exercise":
        return True
    found = PathFinder.find_spec(root, STANDARD)
    return found is not None and found.has_location


class Finder:
    """Asked first of all finders: refuses by name what is not allowed, and leaves the rest to the others."""

    def __init__(self, packages: tuple[str, ...]):
        self.packages = packages

    def find_spec(self, name: str, path=None, target=None) -> ModuleSpec | None:
        if path is None and not allowed(name, self.packages):
            raise ModuleNotFoundError(sentence(name, self.packages), name=name)
        return None


def shut(packages: tuple[str, ...]) -> None:
    """From here on this process cannot import or open the library; what of it has been loaded has no name any more."""
    sys.meta_path.insert(0, Finder(packages))
    for name in [name for name in sys.modules if not allowed(name, packages) and name != "__main__"]:
        del sys.modules[name]
    if not any((HOUSE.parent / package).exists() for package in packages):
        sys.path[:] = [place for place in sys.path if place != str(HOUSE.parent)]
    house = str(HOUSE) + os.sep

    def refuse(event: str, args: tuple) -> None:
        if event == "open" and isinstance(args[0], str | bytes) and _real(args[0]).startswith(house):
            raise PermissionError("the library's files are not to be read when an exercise is checked")

    sys.addaudithook(refuse)


def _real(path: str | bytes) -> str:
    return os.path.realpath(os.fsdecode(path)) + os.sep


class Absent:
    """What stands for something that could not be imported. It may be named, called and passed on, but not used."""

    def __init__(self, name: str, packages: tuple[str, ...]):
        self.__dict__.update(_name=name, _packages=packages)

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}", self._packages)

    def __call__(self, *args, **kwargs) -> Absent:
        return self

    def _used(self, *args, **kwargs):
        raise ModuleNotFoundError(sentence(self._name, self._packages), name=self._name)

    def _passed_on(self, *args) -> Absent:
        return self

    def __instancecheck__(self, instance) -> bool:
        return False

    __getitem__ = __or__ = __ror__ = __enter__ = _passed_on  # annotations, `with`
    __mro_entries__ = __iter__ = __len__ = __bool__ = __array__ = __float__ = __int__ = __index__ = __exit__ = _used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = _used
    __rmatmul__ = __pow__ = __rpow__ = __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _used


def absent(tree: ast.Module, packages: tuple[str, ...]) -> dict[str, Absent]:
    """Takes imports of what is not allowed from the top level of a program; {name: what stands for it}."""
    found = {}
    for place, node in enumerate(tree.body):
        if isinstance(node, ast.Import) and not all(allowed(alias.name, packages) for alias in node.names):
            refused = [alias for alias in node.names if not allowed(alias.name, packages)]
            found |= {
                a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0] for a in refused
            }
            node.names = [alias for alias in node.names if alias not in refused]
            tree.body[place] = node if node.names else ast.copy_location(ast.Pass(), node)
        elif isinstance(node, ast.ImportFrom) and not allowed(node.module or ".", packages):
            found |= {a.asname or a.name: f"{node.module or ''}.{a.name}" for a in node.names if a.name != "*"}
            tree.body[place] = ast.copy_location(ast.Pass(), node)
    return {name: Absent(full, packages) for name, full in found.items()}
