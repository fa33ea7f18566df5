"""A student's functions, those of exercises/, in the place of the library's own: in a network, or as a rank's program.

The library's functions write into arrays that they are given; a student's return new ones. Each adapter here turns one
into the other. A function that is not written yet is replaced by the library's, and the model remembers its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from dlmini.course.strip import stubs
from dlmini.course.work import work_folder
from dlmini.nn import Model, ops

# the student's name -> the library's, and how a call of the library's is made with the student's
ADAPTERS = {
    "linear_backward": ("dense_backward", lambda mine, x, w, dy, dx, dw, db: put(mine(x, w, dy), dx, dw, db)),
    "relu_backward": ("relu_backward", lambda mine, y, dy, dx: put([mine(y, dy)], dx)),
    "softmax_cross_entropy": ("softmax_cross_entropy", lambda mine, *given: scored(mine, *given)),
    "conv_forward": ("conv_forward", lambda mine, x, w, b, y, stride=1: put([mine(x, w, b, stride)], y)),
    "conv_backward": ("conv_backward", lambda mine, *given: convolved(mine, *given)),
    "maxpool_backward": (
        "maxpool_backward",
        lambda mine, dy, which, dx, size=2, stride=2: put([mine(dy, which, dx.shape, size, stride)], dx),
    ),
}


def put(found, *places) -> None:
    """Write what a student's function has returned to where the library wants it; None: nobody wants it."""
    for value, place in zip(found, places, strict=True):
        if place is not None:
            place[...] = value


def scored(mine, scores, labels, dscores, count) -> float:
    loss, slope = mine(scores, labels)
    dscores[...] = slope
    part = len(labels) / count  # a thread's share of the batch
    dscores *= part
    return float(loss) * part


def convolved(mine, x, w, dy, dx, dw, db, stride=1, padding=(0, 0)) -> None:
    bordered, *rest = mine(x, w, dy, stride)
    rows, columns = padding
    inner = bordered[:, rows : x.shape[1] - rows, columns : x.shape[2] - columns]
    put([inner, *rest], dx, dw, db)


def exercise(name: str, folder: Path | None = None) -> ModuleType:
    """The student's file `exercises/<name>.py`, as it is now on disk."""
    file = (folder or work_folder() / "exercises") / f"{name}.py"
    if not file.exists():
        raise FileNotFoundError(f"there is no {file}: open the notebook from the course's folder, or set DLMINI_WORK")
    spec = spec_from_file_location(f"exercise_{name}", file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_pieces(model: Model, pieces: dict) -> Model:
    """The same network in NumPy, with other functions in the place of some of the library's (names as in nn.ops)."""
    other = Model(model.layers, model.input, model.loss, dtype=model.dtype, kernels="numpy")
    other.pieces = dict(pieces)
    return other


def mine(model: Model, name: str, folder: Path | None = None) -> tuple[Model, set[str]]:
    """The network with the functions of exercise `name`; and the names of those that turn out not to be written yet."""
    module, undone, pieces = exercise(name, folder), set(), {}
    own = vars(ops.plain())
    for task, (theirs, adapt) in ADAPTERS.items():
        if hasattr(module, task):
            pieces[theirs] = attempt(task, getattr(module, task), adapt, own[theirs], undone)
    return with_pieces(model, pieces), undone


def who(undone: set[str]) -> str:
    """Whose code it was, as a sentence."""
    if not undone:
        return "Every piece was yours."
    return f"Not done yet: {', '.join(sorted(undone))}. The library's own took the place."


def attempt(task: str, written, adapt, otherwise, undone: set[str]):
    """`written`, or `otherwise` for as long as it says that it is not done yet."""

    def call(*given):
        if task not in undone:
            try:
                return adapt(written, *given)
            except NotImplementedError:
                undone.add(task)
        return otherwise(*given)

    return call


def own(lesson: str, task: str, otherwise: Callable, needs: Sequence[str] = ()) -> tuple[Callable, str]:
    """The student's function `task` of exercises/<lesson>.py, and a sentence that says whose it is.

    `otherwise` takes its place as long as it, or anything that it `needs`, is not written yet.
    """
    module = exercise(lesson)
    text = Path(module.__file__).read_text(encoding="utf-8-sig")
    undone = [name for name in stubs(text) if name in (task, *needs)]
    if undone:
        return otherwise, f"Not done yet: {', '.join(undone)}. The library's own took the place."
    named = [task, *(name for name in needs if not name.startswith(f"{task}."))]  # a method belongs to its class
    return getattr(module, task), f"This was your {', '.join(named)}."
