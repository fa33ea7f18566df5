"""A network as a function of one flat vector of parameters.

    model = Model([Conv2d(8, 5), ReLU(), MaxPool(2), Flatten(), Dense(10)], input=(28, 28, 1))
    w, grad = model.initial(seed=0), model.zeros()
    loss = model.loss_and_grad(w, x, labels, grad)          # writes grad in place, allocates nothing once warm
    w -= 0.1 * grad

The vector is what optimisers step on and what machines exchange; layers only ever see views of it.
"""

import threading
from functools import cached_property
from itertools import accumulate, islice
from math import prod

import numpy as np

from dlmini import checks, jit
from dlmini.checks import array, float_type, lengths, piece, refuse, whole, word
from dlmini.files import DAMAGED, why, write
from dlmini.nn.layers import layers_of
from dlmini.nn.losses import CrossEntropy
from dlmini.nn.modes import Measuring, Predicting, merged
from dlmini.nn.passes import Pass, functions
from dlmini.nn.threads import Team, one_blas_thread

CHUNK, NUMBERS = 200, 2**26  # images per forward pass when predicting, and numbers that they make on their way


class Idle(threading.local):
    """The teams of one thread that nobody works with just now. They end with their thread, and with their model."""

    def __init__(self):
        self.teams = []


class Model:
    """Layers, the shape of one input, and a loss.

    kernels: "numba" (float32) or "numpy" (any float type); by default what DLMINI_KERNELS says.
    threads: how many threads share a batch; the same number gives the same bits, another one other roundings.

    A model may be used by any number of threads and runs at once: each call works in arrays that are its own until it
    returns, and that its thread's next call finds warm. Who needs them beyond a call makes a `Pass(model)` of its own.
    """

    above = 0  # layers that stand above these, where they are a part of a network (part.py)

    def __init__(self, layers, input, loss=None, *, dtype=np.float32, kernels=None, threads=1):
        self.layers, self.input = layers_of(layers), lengths(input, "input")
        self.loss = CrossEntropy() if loss is None else loss
        self.dtype = float_type(dtype)
        usual = "numpy" if jit.mode() == "numpy" or self.dtype != np.float32 else "numba"
        self.kernels = usual if kernels is None else word(kernels, "kernels", ("numba", "numpy"))
        self.threads = whole(threads, "threads", 1)
        self._check()
        self.shapes = list(accumulate(self.layers, lambda shape, layer: layer.output(shape), initial=self.input))
        self.parts = [layer.parameters(shape) for layer, shape in zip(self.layers, self.shapes, strict=False)]
        self.size = sum(prod(s) for part in self.parts for s in part)
        self.coins = sum(layer.coins for layer in self.layers)
        self.measured = sum(layer.statistics(s) for layer, s in zip(self.layers, self.shapes, strict=False))
        self.chunk = max(1, min(CHUNK, NUMBERS // sum(prod(layer.output(s)) for _, layer, s in self.walk())))
        if self.measured and self.threads > 1:
            raise ValueError(
                f"threads={self.threads} with BatchNorm: each thread would see the mean of its own part of the batch; "
                "take threads=1, and more workers instead"
            )
        self.pieces = {}  # functions that take the place of some of the library's own (names as in ops.py)
        self._idle = Idle()

    def _check(self):
        if self.kernels == "numba" and self.dtype != np.float32:
            raise ValueError(f"kernels={self.kernels!r} with {self.dtype}: use 'numba' (float32 only) or 'numpy'")
        if not self.input or 0 in self.input:
            raise ValueError(f"input is {self.input}; it must be the shape of one row, such as (28, 28, 1)")
        piece(self.loss, "loss", ("check", "hits"), "CrossEntropy() or MeanSquares()")

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_idle"}  # memory is made anew there

    def __setstate__(self, state):
        vars(self).update(state, _idle=Idle())

    def zeros(self):
        """A vector of the model's size."""
        return np.zeros(self.size, self.dtype)

    def initial(self, seed=0):
        """First weights, as the layers want them (`begin`): another seed, other random numbers."""
        w, seed = self.zeros(), whole(seed, "seed", 0)
        for i, (layer, shape, arrays) in enumerate(zip(self.layers, self.shapes, self.views(w), strict=False)):
            layer.begin(shape, arrays, (seed, self.above + i))
        return w

    def views(self, vector):
        """The parameters of each layer as views of one flat vector; () for a layer that has none."""
        if not hasattr(vector, "folded"):  # of a folded gradient only a part exists at a time (topology/buckets.py)
            self._check_vector(vector)
        found, start = [], 0
        for part in self.parts:
            arrays = []
            for shape in part:
                arrays.append(vector[start : start + prod(shape)].reshape(shape))
                start += prod(shape)
            found.append(tuple(arrays))
        return found

    def part(self, a, b):
        """Layers a to b - 1 as a network of their own, with its slice of the vector: a pipeline's stage (part.py)."""
        from dlmini.nn.part import Part

        a = whole(a, "a", 0, len(self.layers) - 1, hint="the first layer of the part")
        return Part(self, a, whole(b, "b", a + 1, len(self.layers), hint="the layer behind the part's last one"))

    def _check_vector(self, vector):
        array(vector, "the vector", "make it with model.initial() or model.zeros()")
        if vector.shape != (self.size,) or vector.dtype != self.dtype or not vector.flags.c_contiguous:
            raise ValueError(
                f"the vector is {vector.dtype}{list(vector.shape)}, but this model needs a contiguous "
                f"{self.dtype}[{self.size}]: make it with model.initial() or model.zeros()"
            )

    def _check_stats(self, stats):
        if stats is None and self.measured:
            raise ValueError(
                "this model has BatchNorm, and predicts with a mean and a variance: "
                "pass stats=model.statistics(w, sample), where sample is some images of the training set"
            )
        if stats is not None:
            array(stats, "stats", "make it with model.statistics(w, sample)")
            if stats.shape != (self.measured,) or stats.dtype != self.dtype:
                raise ValueError(
                    f"stats is {stats.dtype}{list(stats.shape)}, but this model needs {self.dtype}[{self.measured}]: "
                    "make it with model.statistics(w, sample)"
                )

    def _check_batch(self, x, name="x"):
        wanted = f"(images, {', '.join(map(str, self.input))})"
        array(x, name, f"floats of shape {wanted}")
        if x.shape[1:] != self.input:
            raise ValueError(f"a batch of shape {x.shape} does not fit: this model needs {wanted}")
        if not len(x):
            raise ValueError(f"the batch is empty: this model needs {wanted} with at least one image")
        if not np.issubdtype(x.dtype, np.floating):
            raise TypeError(f"a batch of {x.dtype} does not fit: scale it to floats first, x.astype(np.float32) / 255")

    def _check_labels(self, x, y):
        array(y, "y", "np.array(labels)")
        if not y.ndim or len(y) != len(x):
            raise ValueError(f"{len(x)} images but {len(y) if y.ndim else 'no'} labels: every image needs one")

    def _check_learning(self, grad, key, ready):
        """What a gradient needs beside a batch."""
        if isinstance(grad, np.ndarray) and not grad.flags.writeable:
            raise ValueError("grad is read-only, but the gradient is written into it: make it with model.zeros()")
        if key is None and self.coins:
            raise ValueError("this model has Dropout: pass key=(seed, rank, step), so that the run can be repeated")
        if self.coins:
            lengths(key, "key")
        if ready is not None and not callable(ready):
            refuse(TypeError, "ready", ready, "a function ready(low, share), or None")

    def _team(self):
        """The passes that do the work of one call: warm ones, unless somebody in this thread is at work with them.

        (Ranks of a simulator share a thread, and a layer or a loss that talks lets another rank in.) Give them back to
        `_idle` when all went well; after an error they are dropped, since their threads may still be writing.
        """
        if self._idle.teams:
            return self._idle.teams.pop()
        one_blas_thread()
        return Team([Pass(self) for _ in range(self.threads)])

    def loss_and_grad(self, w, x, y, grad, key=None, ready=None):
        """The mean loss of a batch; its gradient is written into `grad`.

        key: whole numbers such as (seed, rank, step) that seed Dropout; needed only by models that have it.
        ready(low, share): told during the way back whenever grad[low:] is final, and which share of the work is done;
        gradients are filled from the end. What others do with them may overlap with the rest.
        """
        self._check_batch(x), self._check_labels(x, y)
        self._check_learning(grad, key, ready)
        team = self._team()
        loss = team.loss_and_grad(w, x, y, grad, key, ready)
        self._idle.teams.append(team)
        if not np.isfinite(loss) and not np.isfinite(x).all():
            bad = np.flatnonzero(~np.isfinite(x).reshape(len(x), -1).all(axis=1))
            raise ValueError(f"image {bad[0]} of the batch holds NaN or infinity ({len(bad)} do): clean the data first")
        return loss

    def _scores(self, w, x, stats):
        """The scores of a few images at a time; each lasts until the next is asked for."""
        self._check_batch(x)
        self._check_stats(stats)
        team = self._team()
        for i in range(0, len(x), self.chunk):
            yield team.passes[0].forward(w, x[i : i + self.chunk], Predicting(stats))
        self._idle.teams.append(team)

    def predict(self, w, x, stats=None):
        """The scores of each image. stats: what `statistics` gives; needed only by models with BatchNorm."""
        return np.concatenate([scores.copy() for scores in self._scores(w, x, stats)])

    def evaluate(self, w, x, y, stats=None):
        """{"loss": mean loss, "accuracy": share of right answers (NaN where the loss knows no right and wrong)}."""
        loss, right, asked, done = 0.0, 0, 0, 0
        self._check_batch(x), self._check_labels(x, y)
        for scores in self._scores(w, x, stats):
            labels = y[done : done + len(scores)]
            loss += self.loss(functions(self), scores, labels, np.empty_like(scores), len(x))
            hits = self.loss.hits(scores, labels)
            right, asked, done = right + hits[0], asked + hits[1], done + len(scores)
        return {"loss": loss, "accuracy": right / asked if asked else float("nan")}

    def statistics(self, w, sample, batch=None):
        """Mean and variance of every BatchNorm, one after the other: what predicting needs beside the weights.

        A function of the weights and of a sample of training images, which go through the network in batches of `batch`
        (by default as many as fit), so that a mean of several workers' weights is tried rightly: nobody has to keep
        anything while training. Cost: one forward pass of the sample; for models without BatchNorm nothing.
        """
        self._check_batch(sample, "sample")
        batch = self.chunk if batch is None else whole(batch, "batch", 1, hint="images that are normalised together")
        if not self.measured:
            return np.zeros(0, self.dtype)
        team, found, images = self._team(), [], []
        for i in range(0, len(sample), batch):
            mode, part = Measuring(), sample[i : i + batch]
            team.passes[0].forward(w, part, mode)
            found.append(mode.found)
            images.append(len(part))
        self._idle.teams.append(team)
        return merged(found, images).astype(self.dtype)

    def walk(self):
        """Every layer, also those that others hold: its name, such as 1.0.3, itself, and the shape it gets."""
        return walk([(str(i), layer, shape) for i, (layer, shape) in enumerate(zip(self.layers, self.shapes))])  # noqa: B905

    def leaves(self, vector):
        """The layers that hold no others: name, layer, and its parameters as views of a flat vector."""
        arrays = iter([array for part in self.views(vector) for array in part])
        for name, layer, shape in self.walk():
            if not layer.held(shape):
                yield name, layer, tuple(islice(arrays, len(layer.parameters(shape))))

    @cached_property
    def milestones(self):
        """By the number of a layer's first array: (low, share) when its gradient is there, as `ready` is told.

        low: where it begins in the vector. Of a gradient's work the way forward is a third, the way back two.
        """
        flops = [layer.flops(shape) for layer, shape in zip(self.layers, self.shapes, strict=False)]
        found, number, low = {}, 0, 0
        for i, part in enumerate(self.parts):
            if part:
                found[number] = low, (1 + 2 * sum(flops[i:]) / max(1, sum(flops))) / 3
            number, low = number + len(part), low + sum(map(prod, part))
        return found

    @property
    def flops(self):
        """Multiplications and additions of one image's forward pass; training takes about three times as many."""
        return sum(layer.flops(shape) for layer, shape in zip(self.layers, self.shapes, strict=False))

    def summary(self):
        """A table of layers: output shape, parameters, FLOPs per image."""
        rows = [("layer", "output", "parameters", "FLOPs")]
        for name, layer, shape in self.walk():
            inner = layer.held(shape)
            count = 0 if inner else sum(prod(s) for s in layer.parameters(shape))
            flops = layer.flops(shape) - sum(one.flops(got) for _, one, got in inner)
            label = f"{name.count('.') * '  '}{'shortcut: ' * ('shortcut' in name.split('.')[-1])}{layer}"
            rows.append((label, " x ".join(map(str, layer.output(shape))), f"{count:,}", f"{flops:,}"))
        rows.append(("total", "", f"{self.size:,}", f"{self.flops:,}"))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}" for a, b, c, d in rows]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:-1], "-" * len(lines[0]), lines[-1]])

    def save(self, path, w, stats=None):
        """Write the parameters, and what `statistics` gave, to a .npz file, with the layers they belong to."""
        self._check_vector(w)
        held = {"layers": np.array(repr(self.layers)), "input": np.array(self.input), "w": w}
        if stats is not None:
            self._check_stats(stats)
            held["stats"] = stats
        write(path, lambda stream: np.savez(stream, **held))

    def load(self, path):
        """Read parameters that `save` wrote; refuses those of another network."""
        w = self._read(path)["w"]
        self._check_vector(w)
        return w

    def load_statistics(self, path):
        """Read the statistics that `save` wrote beside the parameters."""
        held = self._read(path)
        if "stats" not in held:
            raise ValueError(f"{path} holds no statistics: write them with model.save(path, w, stats)")
        self._check_stats(held["stats"])
        return held["stats"]

    def _read(self, path):
        if not checks.path(path, "path", "the name of a file").exists():
            raise FileNotFoundError(f"there is no file {path}: check the name, or write it with model.save(path, w)")
        try:
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                held = {name: file[name] for name in file.files}
                layers, _ = str(held["layers"]), held["w"]
        except DAMAGED as error:
            raise ValueError(f"{path} is not a file that model.save wrote, or it is damaged: {why(error)}") from error
        if layers != repr(self.layers):
            raise ValueError(f"{path} holds the parameters of another network: {parted(layers, repr(self.layers))}")
        return held


def parted(there: str, here: str, before: int = 40, behind: int = 60) -> str:
    """Where two lists of layers part: a U-Net's is pages long."""
    at = next((i for i, (a, b) in enumerate(zip(there, here, strict=False)) if a != b), min(len(there), len(here)))
    cut = [("... " if at > before else "") + text[max(0, at - before) : at + behind] for text in (there, here)]
    return f"where it has `{cut[0]}`, this one has `{cut[1]}`; build the network that was saved, then load"


def walk(layers):
    """Layers with their names and shapes, and after each those that it holds."""
    for name, layer, shape in layers:
        yield name, layer, shape
        yield from walk([(f"{name}.{inner}", one, got) for inner, one, got in layer.held(shape)])
