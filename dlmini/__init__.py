"""Distributed training of neural networks, small enough to read.

Every public name is here: `from dlmini import Model, lenet, SGD`. Each is imported when first used,
so that `import dlmini` itself stays fast.
"""

from importlib import import_module

__version__ = "1.0.0"

_ROOMS = {
    "nn": (
        "Model Conv2d Dense MaxPool AvgPool ReLU Tanh Flatten Dropout BatchNorm Up Skip Residual CrossEntropy "
        "MeanSquares gradcheck ZOO softmax_regression mlp lenet cifar_net volunteer_net unet resnet8"
    ),
    "optim": "constant staircase cosine warm_up",
    "optim.lbfgs": "lbfgs",
    "data": (
        "Dataset Batch load batches stream split_iid split_by_label split_dirichlet split_by_quantity "
        "read_idx read_cifar read_folders read_palette fetch blobs spirals shapes aerial cut_tiles turned "
        "VAIHINGEN AERIAL"
    ),
    "alone": "train_alone",
    "compression": "Compressor Feedback NotFinite",
    "sync": "Sync",
    "comm.launch": "launch",
    "comm.network": "gigabit ten_gigabit infiniband wifi home_internet nvlink_island shared_memory",
    "comm.schedules": "native ring tree doubling halving_doubling naive Hierarchical",
    "comm.processes": "Processes",
    "comm.mpi": "Mpi",
    "comm.classroom": "Classroom",
    "sim": "Simulated Cluster explore replay price",
    "topology": "Topology Own spectral_gap consensus_distance",
    "recipe": "Recipe",
    "sandblaster": "Sandblaster",
    "task": "Classify",
    "volunteer.project": "Project",
    "volunteer.work": "Work",
    "segment": "Segment",
    "parallel": "Grid Split meter gpipe one_f_one_b interleaved zero_bubble pipedream",
    "run": "train",
    "outcome": "Outcome",
    "course.check": "check",
    "show": (
        "dashboard timeline curves pareto time_split speed_up mixing_matrix link_heatmap wait_graph law_card guess see "
        "segmentation bubbles memory_over_time"
    ),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}


def _homes() -> dict[str, str]:
    """The room of every public name. The pieces of recipes are found in their rooms (pieces.py)."""
    pieces = import_module("dlmini.pieces")
    return _HOME | {name: room for room in pieces.ROOMS for name in pieces.public(room)}


def _is_room(name: str) -> bool:
    """Whether a file or a folder of the library is called so."""
    from importlib.util import find_spec

    return find_spec(f"dlmini.{name}") is not None


def __getattr__(name: str):
    if name == "__all__":
        return sorted(_homes())
    home = _HOME.get(name)
    if home is None and not name.startswith("_"):
        if _is_room(name):  # `from dlmini import files` asks here first; pieces of recipes are not needed for that
            return import_module(f"dlmini.{name}")
        home = _homes().get(name)
    if home is None:
        raise AttributeError(f"dlmini has no name {name!r}")
    value = getattr(import_module(f"dlmini.{home}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_homes()})
