"""What makes the first minute of a lesson quick, done before it.

Compiled kernels on disk    the one that counts: compiling all of them takes some ten seconds, loading them one
Files read once             a kernel imports some thousand files; from the system's cache that takes a second, not many
Fonts listed                matplotlib makes its list once, several seconds

The fork server of the workers is not among them: it belongs to the process that started it, and every notebook has its
own. It starts when the notebook first says `Processes(...)`, in the background, and is ready about a second later.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dlmini import jit
from dlmini.course.folder import HOUSE
from dlmini.course.parallel_compile import compiled_in_parallel

ROOMS = ("nn", "optim", "compression", "comm", "sim")
COMPILING = ("networks", "workers", "compression", "simulator", "optimisers")  # the longest first: cores end together
IMPORTED = ("ipykernel.kernelapp", "matplotlib.pyplot", "ipywidgets", "anywidget")


def stages() -> dict[str, Callable[[], None]]:
    """What there is to do, by name; each takes about a second if it was done before."""
    compiled = {"networks": networks, "optimisers": optimisers, "compression": compression, "workers": workers}
    compiled |= {"simulator": simulator}
    return {**(compiled if jit.mode() == "numba" else {}), "notebooks": notebooks}


def prepared(todo: dict[str, Callable[[], None]]) -> Iterator[str]:
    """Do stages: the name of each when done. What must be compiled is compiled on all cores, if it can be kept."""
    apart = [name for name in COMPILING if name in todo]
    if len(apart) < 2 or not jit.can_keep() or not (nothing_kept() or cold()):
        apart = []
    yield from compiled_in_parallel(apart)
    for name in [name for name in todo if name not in apart]:
        todo[name]()
        yield name


def kernel_files() -> list[Path]:
    """Files of the rooms warmed here that may hold kernels."""
    files = [file.relative_to(HOUSE) for room in ROOMS for file in sorted((HOUSE / room).rglob("*.py"))]
    return [file for file in files if "kernels" in (file.stem, file.parent.name)]


def nothing_kept() -> bool:
    """Is there no folder for code compiled from any of them? To see that takes no half a second of importing Numba."""
    return not any(jit.cache_dir(HOUSE / file).exists() for file in kernel_files())


def cold() -> list[str]:
    """Kernel files of the rooms warmed here of which this user has no compiled code, as they are now and lie now."""
    return [file.as_posix() for file in kernel_files() if caches(file) and not any(map(any, caches(file)))]


def caches(file: Path) -> list[list[Path]]:
    """For every kernel of a file: its compiled code on disk. Numba keeps it by module, function and line."""
    module = import_module(".".join(("dlmini", *file.with_suffix("").parts)))
    own = [it for it in vars(module).values() if hasattr(it, "_cache") and it.__module__ == module.__name__]
    paths = [getattr(kernel._cache, "cache_path", None) for kernel in own]
    return [list(Path(path).glob(f"{file.stem}.*.nbc")) for path in paths if path]


def networks() -> None:
    import_module("dlmini.nn.warm_networks").warm()


def compression() -> None:
    import_module("dlmini.compression.warm_compression").warm()


def workers() -> None:
    import_module("dlmini.comm.processes.workers.warm_workers")  # importing it is what warms


def optimisers() -> None:
    """One step of each."""
    from dlmini.pieces import tried

    w, grad = np.ones(8, np.float32), np.ones(8, np.float32)
    for optimizer in tried("optim"):
        optimizer.start(w.size).apply(w, grad)


def simulator() -> None:
    """The price of one collective, among so many ranks that compiled code pays."""
    from dlmini.comm.network import gigabit
    from dlmini.comm.schedules import ring
    from dlmini.sim import price

    price(ring, 512, 4096, gigabit)


def notebooks() -> None:
    """Import what a notebook's kernel imports, in a process of its own: the files are read, the fonts are listed."""
    names = [name for name in IMPORTED if find_spec(name.split(".")[0])]
    subprocess.run([sys.executable, "-c", f"import {', '.join(names)}" if names else ""], check=True, timeout=300)
