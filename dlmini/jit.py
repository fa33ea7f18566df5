"""How the house compiles: one decorator, one cache, one switch.

DLMINI_KERNELS=numba   compiled kernels (the default)
DLMINI_KERNELS=numpy   the plain NumPy functions the kernels are twins of
DLMINI_KERNELS=debug   the kernels as plain Python: slow, but every address they touch is checked

Compiled code is cached per user, per version of the library, per content of all files of its room (Numba itself does
not notice when a file changes that a kernel calls into) and per kind of CPU: machines may share a home folder. The
cache may be read-only, full or corrupt; then kernels are compiled anew, and one warning says so.
"""

import hashlib
import os
import tempfile
import threading
import warnings
from functools import cache
from pathlib import Path

import dlmini

MODES = ("numba", "numpy", "debug")
HERE = Path(__file__).resolve().parent
LEVEL = 1  # of LLVM's optimisation: its vector loops come with 1; 3 compiles longer and gives nothing faster


def mode() -> str:
    """Which kernels are wanted: numba, numpy or debug."""
    chosen = os.environ.get("DLMINI_KERNELS", "numba")
    if chosen not in MODES:
        raise ValueError(f"DLMINI_KERNELS={chosen!r} is unknown; use one of {', '.join(MODES)}")
    return chosen


def sources(file: Path) -> list[Path]:
    """Every file that code compiled from `file` may be made from: its folder `kernels`, or itself; and this one."""
    together = sorted(file.parent.glob("*.py")) if file.parent.name == "kernels" else [file]
    return [*together, HERE / "jit.py"]


@cache
def fingerprint(files: tuple[Path, ...]) -> str:
    """A short hash over the contents of files."""
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:12]


@cache
def cache_root() -> Path:
    """Where compiled kernels of this version live: DLMINI_CACHE, or the user's cache folder."""
    import platformdirs

    base = os.environ.get("DLMINI_CACHE") or platformdirs.user_cache_dir("dlmini", appauthor=False)
    return Path(base) / "kernels" / dlmini.__version__


def cache_dir(file: str) -> Path:
    """Where code compiled from `file`, as it is now, lives."""
    return cache_root() / fingerprint(tuple(sources(Path(file).resolve())))


@cache
def cpu() -> str:
    """A short hash over the kind of CPU that Numba compiles for: this one, or that of NUMBA_CPU_NAME and _FEATURES.

    Numba knows code of other CPUs by its index alone: two machines that compile one function at the same time may give
    their code the same name, and one then runs instructions that it does not have. So each kind has a folder.
    """
    from numba.core.registry import cpu_target

    return hashlib.sha256(repr(cpu_target.target_context.codegen().magic_tuple()).encode()).hexdigest()[:12]


def can_keep() -> bool:
    """Whether what is compiled now will be found again."""
    try:
        cache_root().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_root()):
            return True
    except OSError:
        return False


@cache
def warn_once(why: str) -> None:
    warnings.warn(
        f"compiled kernels cannot be kept ({why}); they are compiled again in every process. "
        f"Make {cache_root()} writable, or name another folder in DLMINI_CACHE.",
        RuntimeWarning,
        stacklevel=3,
    )


@cache
def _cache_class():
    from numba.core.caching import FunctionCache

    class ForgivingCache(FunctionCache):
        """Numba's cache, except that a damaged entry is compiled again and an unwritable one is skipped.

        Two processes that compile one function for different types at the same time may give both the same number, and
        then one finds the other's code under its own name: what was loaded must be for the types that were asked for.
        """

        def load_overload(self, sig, target_context):
            try:
                found = super().load_overload(sig, target_context)
            except Exception:
                self._forget()
                return None
            return found if found is None or found.signature.args == tuple(sig) else None

        def save_overload(self, sig, data):
            try:
                super().save_overload(sig, data)
            except OSError as error:
                warn_once(str(error))

        def _forget(self):
            try:
                self.flush()
            except OSError as error:
                warn_once(str(error))

    return ForgivingCache


def _compile_lightly(dispatcher) -> None:
    """Let LLVM pass over a kernel at LEVEL, whatever the user's Numba does: set while it is compiled, under its lock.

    The machine code is made as the user wishes: Numba decides on that once for all functions of a process.
    """
    from numba import config
    from numba.core.compiler_lock import global_compiler_lock

    compiler = dispatcher._compiler
    whole = compiler.compile

    def compile(args, return_type):
        with global_compiler_lock:
            dispatcher.targetctx.codegen()  # makes what is decided once
            before, config.OPT = config.OPT, type(config.OPT)(min(LEVEL, config.OPT))
            try:
                return whole(args, return_type)
            finally:
                config.OPT = before

    compiler.compile = compile


_decorating = threading.Lock()


def _attach_cache(dispatcher, fn) -> None:
    """Give a kernel its own cache folder without touching the user's Numba settings."""
    from numba import config

    folder = cache_dir(fn.__code__.co_filename) / cpu()
    with _decorating:
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            found = _cache_class()(fn)
            if Path(found.cache_path).is_relative_to(folder):
                dispatcher._cache = found
            else:  # Numba could not write there and would put the code somewhere that no fingerprint guards
                warn_once(f"{cache_root()} is not writable")
        except (RuntimeError, OSError) as error:
            warn_once(str(error).splitlines()[0])
        finally:
            config.CACHE_DIR = before


def kernel(fn=None, *, exact=False, inline=False):
    """Compile `fn` on its first call; in debug mode leave it the plain Python function that it is.

    With `inline` it is a part of kernels: copied into each of its callers before these are compiled, and not compiled
    by itself unless Python calls it; a caller's `exact` holds for it. That saves a tenth of a second for each function
    with few callers.
    Sums may be reordered and products fused with additions, unless `exact`: then each operation rounds as NumPy's does.
    NaN and infinity always keep their meaning: a diverged run must be seen, not optimised away.
    """
    if fn is None:
        return lambda fn: kernel(fn, exact=exact, inline=inline)
    if mode() == "debug":
        return fn
    from numba import njit

    fast = False if exact else {"nsz", "arcp", "contract", "afn", "reassoc"}
    options = {"inline": "always" if inline else "never", "no_cfunc_wrapper": True}
    dispatcher = njit(fastmath=fast, error_model="numpy", nogil=True, boundscheck=False, **options)(fn)
    if not inline:
        _attach_cache(dispatcher, fn)
        _compile_lightly(dispatcher)
    return dispatcher


def at_hand(kernel, *args):
    """The compiled function for arguments of these types, which it no longer looks at: ask only for arrays that match.

    Numba finds it out anew at every call, and for that takes as long as two ranks need to meet.
    """
    if not hasattr(kernel, "compile"):  # a twin
        return kernel
    return kernel.compile(tuple(map(kernel.typeof_pyval, args)))
