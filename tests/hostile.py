"""The table of every public name: a call that is good, and for each argument what else would be.

An argument is a good value and a rule that says of any other value whether it is good too. `test_hostile_arguments.py`
puts everything into every argument. A new public name without a row, or a new argument, fails there.
"""

import dataclasses
import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from dlmini import (
    SGD,
    AllReduce,
    Batch,
    Classify,
    Conv2d,
    Dense,
    Grid,
    Int8,
    LocalSGD,
    Model,
    Recipe,
    Simulated,
    TopK,
    Work,
    blobs,
    gigabit,
    native,
    one_f_one_b,
    pieces,
    ring,
    shapes,
    split_iid,
)
from dlmini.comm import Link, Medium, Nodes, Switch
from dlmini.plan import Device, Layout, Rate, Sheet


class Argument(NamedTuple):
    good: object
    fine: Callable[[object], bool]  # of a strange value: is it meant to work?
    number: bool = False  # then NumPy's scalar of the same value means the same
    unsaid: bool = False  # nobody has said what is fine: a strange value works, or is refused by a sentence


def whole(good, least=1, most=2**63 - 1, also=()) -> Argument:
    def fine(x):
        return (isinstance(x, Integral) and not isinstance(x, bool) and least <= x <= most) or one_of(x, also)

    return Argument(good, fine, number=True)


def real(good, least=-math.inf, above=-math.inf, most=math.inf, below=math.inf, infinite=False, also=()) -> Argument:
    def fine(x):
        number = isinstance(x, Real) and not isinstance(x, bool) and least <= x <= most and above < x
        return (number and (x < below or infinite) and (infinite or abs(x) < 1e308)) or one_of(x, also)

    return Argument(good, fine, number=True)


def share(good, also=()) -> Argument:
    return real(good, above=0, most=1, also=also)


def truth(good=False) -> Argument:
    return Argument(good, lambda x: isinstance(x, (bool, np.bool_)))


def only(good, also=()) -> Argument:
    """Nothing else will do, but for what is named."""
    return Argument(good, lambda x: one_of(x, also))


def anything(good) -> Argument:
    return Argument(good, lambda x: True)


def one_of(x, also) -> bool:
    return any(x is one or (type(x) is type(one) and not isinstance(x, np.ndarray) and x == one) for one in also)


def text(good, also=()) -> Argument:
    return Argument(good, lambda x: isinstance(x, str) or one_of(x, also))


def compressor(good=None, also=()) -> Argument:
    return only(good or Int8(), also)


NONE, CLASSES = (None,), (int, SGD)  # a class can be called, whatever comes of it
DATA, PICTURES = blobs(24), shapes(2, 8)
NET, PIXELS = Model([Dense(3)], (2,)), Model([Conv2d(4, 1)], (8, 8, 3))
W, X, Y = NET.initial(), DATA.x, DATA.y
TASK = Classify(NET, DATA, DATA, 4)
OPTIMIZER = {"rate": real(0.1, least=0, also=(print,)), "weight_decay": real(0.0, least=0)}
PAST = real(0.9, least=0, below=1)
INPUT = only((28, 28, 1))
ZOO_MODEL = {"input": INPUT, "classes": whole(10, most=2**40)}
SCHEDULE = {"how": only(native)}
GRAPH = only("ring", (print,))
SPLIT = {
    "rows": Argument(DATA, lambda x: isinstance(x, np.ndarray) and x.shape[:1] == (3,)),
    "parts": whole(3, most=24),
    "seed": whole(0, least=0),
}
LABELS = {"rows": only(DATA), "parts": whole(3, most=12), "seed": whole(0, least=0)}
BATCHES = {
    "dataset": only(DATA),
    "size": whole(4, most=24),
    "seed": whole(0, least=0),
    "rank": whole(0, 0, 0),
    "ranks": whole(1, 1, 6),
    "part": only(None),
    "epoch": whole(0, least=0),
    "drop_last": truth(),
    "reuse": truth(),
}
VALUE = Argument(
    1.0, lambda x: isinstance(x, Real) and not isinstance(x, bool) and not (isinstance(x, int) and x > 1e308)
)
SQUARE = Argument(np.eye(2), lambda x: isinstance(x, np.ndarray) and x.shape == (3, 3))
MAPPING = only({0: 1.0}, ({},))
RUN = {"args": Argument((), lambda x: isinstance(x, (list, tuple)))}


def bowl(w, grad) -> float:
    grad[:] = w
    return float(w @ w / 2)


def seeds(x) -> bool:
    """How many, or a row of them."""
    row = isinstance(x, (list, tuple, dict)) or (isinstance(x, np.ndarray) and x.shape == (0,))
    return whole(2).fine(x) or (row and all(isinstance(one, int) for one in x))


ROWS = {
    "Model": {
        "layers": only([Dense(2)]),
        "input": only((2,)),
        "loss": only(None),
        "dtype": only(np.float64),
        "kernels": only(None),
        "threads": whole(1),
    },
    "Sync": {},
    "Project": {
        "task": only(Work("mlp", "blobs", units=4)),
        "terms": only(None),
        "folder": Argument(None, lambda x: isinstance(x, str) and x != ""),
        "host": text("127.0.0.1"),
        "port": Argument(0, whole(0, 0, 65535).fine),
    },
    "Work": {
        **{"model": only("mlp"), "data": only("blobs"), "optimizer": only("adam")},
        **{name: whole(4, most=10**6) for name in ("units", "iterations", "steps")},
        **{"batch": whole(4, most=10**5), "rate": real(0.1, above=0), "seed": whole(0, 0, 2**31)},
    },
    "Topology": {},
    "Compressor": {},
    "Conv2d": {
        "channels": whole(2),
        "kernel": whole(3, also=([1, 2],)),
        "stride": whole(1),
        "padding": whole(0, least=0, also=([1, 2],)),
    },
    "Dense": {"units": whole(3)},
    "MaxPool": {"size": whole(2, most=15), "stride": whole(2, also=NONE)},
    "AvgPool": {"size": whole(2, most=15), "stride": whole(2, also=NONE)},
    "BatchNorm": {"epsilon": real(1e-5, above=0)},
    "Up": {"channels": whole(2), "size": whole(2, most=15)},
    "Skip": {"layers": only([Dense(2)])},
    "Residual": {"layers": only([Dense(2)]), "shortcut": only([], ([], ()))},
    "ReLU": {},
    "Tanh": {},
    "Flatten": {},
    "Dropout": {"drop": real(0.5, least=0, below=1)},
    "CrossEntropy": {},
    "MeanSquares": {},
    "gradcheck": {
        "model": only(NET),
        "w": only(W),
        "x": only(X),
        "y": only(Y),
        "step": real(1e-5, above=0),
        "sample": whole(4),
        "seed": whole(0, least=0),
        "key": only((0,), ([1, 2], [], ())),
    },
    "softmax_regression": {**ZOO_MODEL, "input": only((28, 28, 1), ([1, 2],))},
    "mlp": {**ZOO_MODEL, "hidden": only((4, 3), ([1, 2], [], ())), "input": only((28, 28, 1), ([1, 2],))},
    "lenet": ZOO_MODEL,
    "cifar_net": {"input": only((32, 32, 3)), "classes": whole(10, most=2**40)},
    "volunteer_net": ZOO_MODEL,
    "unet": {"width": whole(1, most=2**40), "depth": whole(1, 1, 1), "input": only((4, 4, 1)), "classes": whole(2)},
    "resnet8": {"width": whole(1), "input": only((4, 4, 1)), "classes": whole(2)},
    "SGD": OPTIMIZER,
    "Momentum": {**OPTIMIZER, "momentum": PAST},
    "Nesterov": {**OPTIMIZER, "momentum": PAST},
    "Adagrad": {**OPTIMIZER, "eps": real(1e-8, above=0, most=1e38)},
    "Adam": {**OPTIMIZER, "beta1": PAST, "beta2": PAST, "eps": real(1e-8, above=0, most=1e38), "decoupled": truth()},
    "constant": {"rate": real(0.1, least=0)},
    "staircase": {"rate": real(0.1, least=0), "every": whole(3), "factor": real(0.1, least=0)},
    "cosine": {"rate": real(0.1, least=0), "rounds": whole(3), "floor": real(0.0, least=0, most=0.1)},
    "lbfgs": {
        "loss_and_grad": only(bowl),
        "w": Argument(np.ones(2), lambda x: isinstance(x, np.ndarray) and x.shape == (3,) and x.dtype.kind == "f"),
        "history": whole(3),
        "iterations": whole(3),
        "tolerance": real(1e-8, least=0),
        "form": only("dots"),
        "noise": real(0.0, least=0),
    },
    "warm_up": {"schedule": real(0.1, least=0, also=(print,)), "rounds": whole(3)},
    "Dataset": {"name": text("points"), "x": only(X), "y": only(Y), "classes": only(DATA.classes)},
    "load": {"name": only("mnist"), "full": only(False)},
    "batches": {**BATCHES, "shuffle": truth(True)},
    "stream": BATCHES,
    "split_iid": SPLIT,
    "split_by_label": {**LABELS, "shards_per_part": whole(2, most=8)},
    "split_dirichlet": {**LABELS, "alpha": real(1.0, above=0)},
    "split_by_quantity": {**SPLIT, "parts": whole(3, most=24, also=([1, 2],)), "alpha": real(1.0, above=0)},
    "read_idx": {"path": only(None)},
    "read_cifar": {"path": only(None), "coarse": only(False), "complete": only(True)},
    "read_folders": {
        **{"path": only(None), "classes": only(None), "name": only(None)},
        **{"tile": only(None), "stride": only(None)},
    },
    "read_palette": {"path": only(None)},
    "cut_tiles": {"dataset": only(PICTURES), "size": whole(4, most=8), "stride": whole(2, also=NONE)},
    "turned": {"batch": only(Batch(np.zeros((1, 2, 2, 1), np.float32), np.zeros(1, int), (0, 0, 0, 0)))},
    "fetch": {"name": only(None), "folder": only(None), "base_url": only(None), "progress": only(None)},
    "blobs": {
        "n": whole(9, most=99),
        "classes": whole(3, most=99),
        "spread": real(0.5, 0, most=1e6),
        "seed": whole(0, 0),
    },
    "spirals": {
        "n": whole(9, most=99),
        "classes": whole(3, most=99),
        "noise": real(0.5, least=0, most=1e6),
        "revolutions": real(1.0, least=-1e6, most=1e6),
        "seed": whole(0, least=0),
    },
    "shapes": {"n": whole(2, most=9), "size": whole(8, 8, 99), "noise": real(1.0, 0, most=1e6), "seed": whole(0, 0)},
    "aerial": {
        "n": whole(1, most=9),
        "size": whole(8, 8, 99),
        "scale": real(2.0, above=0, most=100),
        "noise": real(1.0, 0, most=1e6),
        "unlabelled": whole(0, least=0, most=9),
        "seed": whole(0, 0),
    },
    "train_alone": {
        "model": only(NET),
        "train": only(DATA),
        "test": only(DATA),
        "optimizer": only(SGD(0.1)),
        "epochs": whole(1),
        "batch": whole(4),
        "seed": whole(0, least=0),
    },
    "None_": {},
    "Half": {},
    "BFloat16": {},
    "Int8": {"levels": whole(127, most=127), "bucket": whole(0, least=0), "stochastic": truth()},
    "Deflate": {"inner": compressor(), "level": whole(1, 0, 9)},
    "QSGD": {"bits": whole(4, 2, 8), "bucket": whole(100, 0), "norm": only("max"), "elias": truth()},
    "OneBit": {"columns": whole(1)},
    "Sign": {},
    "EFSign": {},
    "TernGrad": {"clip": real(2.5, above=0, infinite=True, also=NONE)},
    "Threshold": {"value": real(1.0, least=0, most=3e38), "keep": only(None)},
    "TopK": {"fraction": share(0.1)},
    "RandomK": {"fraction": share(0.1), "shared": truth(True), "scaled": truth(True)},
    "Strom": {"tau": real(1.0, above=0, most=3e38)},
    "DGC": {
        "keep": share(0.1),
        "momentum": PAST,
        "nesterov": truth(),
        "clip": real(1.0, above=0, infinite=True, also=NONE),
        "masking": truth(True),
        "warm_up": only((0.5,), ([], ())),
        "rounds": whole(1),
    },
    "PerLayer": {
        "inner": compressor(),
        "shapes": only(((2, 3), (3,)), ([], (), [[1, 2], [3]])),
        "small": whole(0, least=0),
    },
    "Feedback": {"compressor": compressor(), "size": whole(4, 0, 10**6)},
    "launch": {
        "program": only(print, CLASSES),
        "on": only(Simulated(2)),
        **RUN,
        "listen": only(None, (print, *CLASSES)),
        "control": only(None),
        "may_die": only((), ([], ())),
        "may_return": only((), ([], ())),
    },
    "Hierarchical": {"per_node": whole(2)},
    "Processes": {
        "size": whole(2),
        "network": only(gigabit, NONE),
        "spans": truth(),
        "timeout": real(1.0, above=0, infinite=True, also=NONE),
    },
    "Mpi": {
        "size": whole(2),
        "hosts": only(None, ([], ())),
        "timeout": real(1.0, above=0, infinite=True, also=NONE),
        "options": only((), ([],)),
    },
    "Classroom": {
        "size": whole(2),
        "port": whole(80, 0, 65535),
        "encrypt": truth(True),
        "address": text(""),
        "patience": real(1.0, least=0.1, most=3600),
        "wait": real(1.0, least=0, infinite=True),
        "timeout": real(1.0, above=0, infinite=True, also=NONE),
        "spans": truth(),
        "key_file": Argument("room.key", lambda x: x is None or (isinstance(x, str) and x != "")),
    },
    "Simulated": {
        "size": whole(2),
        "cluster": only(gigabit, NONE),
        "seed": whole(0, least=0),
        "log": truth(),
        "spans": truth(),
    },
    "Cluster": {
        "network": only(gigabit),
        "flops": real(1e9, above=0, infinite=True),
        "seconds": only({"gradient": 1.0}, ({},)),
        "speed": MAPPING,
        "jitter": real(0.0, least=0),
        "link_jitter": real(0.0, least=0),
        "overhead": real(0.0, least=0),
        "poll": real(1e-6, above=0),
        "gamma": real(0.0, least=0),
        "start": MAPPING,
        "crash": only({}, ({},)),
        "back": only({}, ({},)),
        "priced": truth(True),
    },
    "explore": {
        "program": only(print, CLASSES),
        "on": only(Simulated(2), NONE),
        "seeds": Argument(2, seeds, number=True),
        **RUN,
        "check": only(None, (print, *CLASSES)),
        "same": truth(),
        "shake": real(1.0, least=0),
    },
    "replay": {"program": only(print, CLASSES), "on": only(Simulated(2)), **RUN, "seed": whole(0, least=0, also=NONE)},
    "price": {
        "how": only(ring),
        "size": whole(4, most=99),
        "x": Argument(100, lambda x: isinstance(x, np.ndarray) or (whole(0, 0).fine(x) and x < 2**40), number=True),
        "cluster": only(gigabit, NONE),
        "arrive": Argument(0.0, lambda x: real(0, 0).fine(x) or (isinstance(x, np.ndarray) and not x.ndim), True),
        "seed": whole(0, least=0),
    },
    "BulkSynchronous": {},
    "LocalSGD": {"steps": whole(4), "variant": only("textbook"), "post": whole(0, least=0)},
    "Asynchronous": {"aware": truth()},
    "StaleSynchronous": {"bound": whole(3, least=0, also=(math.inf,))},
    "PartlySynchronous": {"most": whole(4)},
    "Downpour": {"fetch": whole(4), "push": whole(1, most=1), "warm_start": whole(0, least=0)},
    "AllReduce": {**SCHEDULE, "bucket": whole(100, also=NONE), "back": only(None, NONE)},
    "Zero": {"stage": whole(1, 0, 2), **SCHEDULE, "bucket": whole(100, also=NONE)},
    "ParameterServer": {"servers": whole(1), "quorum": whole(2, also=NONE), "back": compressor(also=NONE)},
    "Star": {"back": compressor(also=NONE)},
    "Gossip": {"graph": GRAPH, "what": only("updates")},
    "Own": {"K": only([[1.0]], (print,)), "period": whole(1, most=1)},
    "PushSum": {"graph": GRAPH},
    "Tracking": {"graph": GRAPH},
    "AsyncGossip": {"graph": GRAPH},
    "Choco": {"compressor": compressor(TopK()), "graph": only("ring"), "gamma": share(0.5)},
    "LowRank": {"rank": whole(2), **SCHEDULE},
    "spectral_gap": {"K": SQUARE},
    "consensus_distance": {"weights": SQUARE},
    "Recipe": {
        "sync": only(LocalSGD()),
        "topology": only(AllReduce()),
        "compression": compressor(),
        "optimizer": only(SGD(0.1)),
        "outer": only(SGD(0.1), NONE),
        "rounds": whole(3),
        "evaluate_every": whole(0, least=0),
        "all_workers": truth(),
        "checkpoint_every": whole(0, least=0),
        "seed": whole(0, least=0),
        "feedback": Argument(True, lambda x: x is None or isinstance(x, (bool, np.bool_))),
    },
    "Sandblaster": {
        "history": whole(3),
        "portions": whole(4, also=NONE),
        "backup": truth(True),
        "shards": whole(1),
        "form": only("dots"),
        "tolerance": real(1e-6, least=0),
        "rounds": whole(3),
        "evaluate_every": whole(0, least=0),
        "checkpoint_every": whole(0, least=0),
        "seed": whole(0, least=0),
    },
    "Classify": {
        "model": only(NET),
        "train": only(DATA),
        "test": only(DATA),
        "batch": whole(4),
        "split": only(split_iid),
    },
    "Segment": {
        "model": only(PIXELS),
        "train": only(PICTURES),
        "test": only(PICTURES),
        "batch": whole(4),
        "split": only(split_iid),
        "turns": truth(True),
        "sample": whole(4),
    },
    "Grid": {"data": whole(1), "pipe": whole(1), "tensor": whole(1), "shard": whole(1)},
    "interleaved": {"chunks": whole(2)},
    "Split": {
        "task": only(TASK),
        "grid": only(Grid()),
        "schedule": only(one_f_one_b),
        "micro_batches": whole(1, most=4, also=NONE),
        "cuts": only(None, ([], ())),
        "share": only("pairs"),
        "how": only(native),
        "bucket": only(None),
    },
    "meter": {
        "task": only(TASK),
        "recipe": Argument(Recipe(rounds=2), lambda x: isinstance(x, Recipe)),
        "ranks": whole(2),
    },
    "train": {
        "task": only(TASK),
        "recipe": Argument(Recipe(rounds=2), lambda x: isinstance(x, Recipe)),
        "on": only(Simulated(2)),
        "epochs": real(1, above=0, most=5, also=NONE),
        "until": real(1.0, above=0, also=NONE),
        "patience": whole(0, least=0),
        "folder": only(None),
        "resume": only(None),
        "control": only(None),
        "remember": whole(100),
        "restarts": whole(0, 0, 0),
        "tracker": only(None),
    },
    "check": {"word": only(None), "seed": only(0), "folder": only(None)},
    "law_card": {
        "name": text("law"),
        "formula_value": VALUE,
        "measured_value": VALUE,
        "tolerance": real(0.1, least=0, infinite=True),
    },
    "guess": {
        "name": only("07.a"),
        "question": text("How many?"),
        "unit": text("points"),
        "between": Argument((0, 30), lambda x: x == [1, 2] if isinstance(x, list) else False),
        "of": only(None),
    },
    "see": {"name": only("07.b"), "measured": Argument(1.0, lambda x: isinstance(x, str) or VALUE.fine(x))},
}


def unsaid(piece) -> dict[str, Argument]:
    """The row of a piece of which nobody has written one: its own example is good."""
    example = next(iter(getattr(piece, "tried", ({},))), {})
    fields = {f.name: f.default for f in dataclasses.fields(piece) if f.init}
    return {name: Argument(example.get(name, value), lambda x: False, unsaid=True) for name, value in fields.items()}


for room in pieces.ROOMS:
    ROWS |= {name: unsaid(it) for name, it in pieces.public(room).items() if name not in ROWS}
# What the library hands out, and nobody makes by hand.
HANDED_OUT = {"Batch", "NotFinite", "Outcome"}
# Where a good call needs files, a course or a long wait: only the arguments that are looked at first.
ONLY_REFUSE = {
    "read_idx": ("path",),
    "read_cifar": ("path",),
    "read_folders": ("path",),
    "read_palette": ("path",),
    "fetch": ("name",),
    "check": ("word",),
    "Project": ("task", "terms", "folder", "port"),  # a good one starts a server
}
# An argument by another name: what a sentence may say instead.
ALSO_CALLED = {
    "between": ("answer to",),
    "x": ("batch",),
    "y": ("label",),
    "w": ("vector",),
    "grad": ("vector",),
    "sample": ("batch",),
    "a": ("rank",),
    "b": ("rank",),
    "file": ("path",),
    "input": ("needs images",),
    "name": ("dataset",),
    "part": ("row numbers", "rows that rank 0 has"),
    "hidden": ("units",),
    "path": ("no file", "does not exist"),
    "size": ("ranks",),
    "graph": ("mixing matrix", "neighbours"),
    "resume": ("checkpoint",),
    "word": ("a lesson",),
}
PARTS = {  # public pieces that `dlmini` itself does not name
    Link: {
        "latency": real(0, 0),
        "bandwidth": real(1.0, above=0, infinite=True),
        "upload": real(1.0, above=0, infinite=True, also=NONE),
    },
    Switch: {"link": only(Link(0, 1))},
    Medium: {"link": only(Link(0, 1))},
    Nodes: {"per_node": whole(2), "inside": only(Link(0, 1)), "between": only(Link(0, 1)), "shared": truth()},
    Rate: {"peak": real(1.0, above=0), "best": share(0.5), "half": real(0.0, least=0)},
    Device: {
        "name": text("abacus"),
        "products": only(Rate(1e9)),
        "memory": only(Rate(1e9)),
        "room": real(1e9, above=0),
        "network": only(Nodes(2, Link(0, 1), Link(0, 1))),
        "hourly": real(1.0, least=0),
        "units": whole(0, least=0),
        "tile": only((2, 2), ([1, 2],)),
    },
    Sheet: {
        "name": text("any"),
        **{"hidden": whole(4, most=4), "layers": whole(2), "heads": whole(1, most=1)},
        **{"vocabulary": whole(9), "sequence": whole(8)},
        **{"positions": truth(), "embedding_norm": truth(), "dropout": truth()},
    },
    Layout: {
        **{name: whole(1) for name in ("tensor", "pipe", "data", "micro", "chunks")},
        "zero": whole(0, 0, 3),
        "recompute": only("full"),
        **{"sequence_parallel": truth(), "overlap": truth()},
        "gradient": only(2),
    },
}
