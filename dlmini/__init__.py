"""Distributed training of neural networks, small enough to read.

Every public name is here: `from dlmini import Model, lenet, SGD`. Each is imported when first used,
so that `import dlmini` itself stays fast.
"""

from importlib import import_module

__version__ = "0.1.0"

_ROOMS = {
    "nn": (
        "Model Conv2d Dense MaxPool AvgPool ReLU Tanh Flatten Dropout CrossEntropy MeanSquares gradcheck "
        "ZOO softmax_regression mlp lenet cifar_net volunteer_net"
    ),
    "optim": "SGD Momentum Nesterov Adagrad Adam constant staircase cosine warm_up",
    "data": (
        "Dataset Batch load batches stream split_iid split_by_label split_dirichlet split_by_quantity "
        "read_idx read_cifar read_folders fetch blobs spirals shapes VAIHINGEN"
    ),
    "alone": "train_alone",
    "compression": (
        "None_ Half BFloat16 Int8 Deflate QSGD OneBit Sign EFSign TernGrad Threshold TopK RandomK Strom DGC "
        "PerLayer Feedback NotFinite"
    ),
    "comm.launch": "launch",
    "comm.network": "gigabit ten_gigabit infiniband wifi home_internet nvlink_island shared_memory",
    "comm.schedules": "native ring tree doubling halving_doubling naive Hierarchical",
    "comm.processes": "Processes",
    "comm.mpi": "Mpi",
    "sim": "Simulated Cluster explore replay price",
    "sync": "BulkSynchronous LocalSGD Asynchronous StaleSynchronous PartlySynchronous Downpour",
    "topology": (
        "AllReduce ParameterServer Star Gossip Own PushSum AsyncGossip Choco LowRank spectral_gap consensus_distance"
    ),
    "recipe": "Recipe",
    "task": "Classify",
    "run": "train",
    "outcome": "Outcome",
    "course.check": "check",
    "show": (
        "dashboard timeline curves pareto time_split speed_up mixing_matrix link_heatmap wait_graph law_card guess see"
    ),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"dlmini has no name {name!r}")
    value = getattr(import_module(f"dlmini.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
