"""Random networks that branch, against PyTorch: the same weights, the same batch, loss and every gradient."""

import numpy as np
import pytest
from examples import LONG

from dlmini import AvgPool, BatchNorm, Conv2d, Dense, Flatten, MaxPool, Model, ReLU, Residual, Skip, Up

torch = pytest.importorskip("torch")
peers = pytest.importorskip("benchmarks.peers")
HEAD = [AvgPool("image"), Flatten(), Dense(4)]
NETWORKS = 100 if LONG else 20


def drawn(seed):
    """A network of two to four pieces, of which at least one branches, up to three deep."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.choice([8, 12])), int(rng.choice([4, 8])), int(rng.integers(1, 4)))
    layers = [*row(rng, shape, 2, int(rng.integers(1, 3)))]
    layers += branch(rng, Model([*layers], shape).shapes[-1] if layers else shape, 3)
    layers += row(rng, Model(layers, shape).shapes[-1], 2, int(rng.integers(0, 2)))
    return [*layers, *HEAD], shape


def row(rng, shape, deep, count):
    """Some layers that keep an image's size."""
    layers = []
    for _ in range(count):
        more = branch(rng, shape, deep) if deep and rng.random() < 0.4 else plain(rng)
        shape = Model(more, shape).shapes[-1]
        layers += more
    return layers


def plain(rng):
    kernel = int(rng.choice([1, 3, 5]))
    layers = [Conv2d(int(rng.integers(1, 18)), kernel, padding="same")]
    layers += [BatchNorm()] if rng.random() < 0.5 else []
    return [*layers, ReLU()] if rng.random() < 0.7 else layers


def branch(rng, shape, deep):
    """One layer that holds others, perhaps with a ReLU behind it."""
    inner, behind = row(rng, shape, deep - 1, int(rng.integers(1, 3))), [ReLU()] if rng.random() < 0.5 else []
    if rng.random() < 0.5:
        if min(shape[:2]) >= 4 and not (shape[0] % 2 or shape[1] % 2) and rng.random() < 0.6:
            low = row(rng, (shape[0] // 2, shape[1] // 2, shape[2]), deep - 1, int(rng.integers(1, 3)))
            inner = [MaxPool(2), *low, Up(int(rng.integers(1, 10)), 2)]
        return [Skip(inner), *behind]
    channels, same = int(rng.integers(1, 18)), rng.random() < 0.5
    last = Conv2d(shape[2] if same else channels, 3, padding="same")
    shortcut = [] if same else [Conv2d(channels, 1), *([BatchNorm()] if rng.random() < 0.5 else [])]
    return [Residual([*inner, last, *([BatchNorm()] if rng.random() < 0.5 else [])], shortcut), *behind]


def as_torch(array):
    """Our axes of weights, in PyTorch's order: filters [KH, KW, in, out] and matrices [in, out] turned round."""
    return array.transpose(3, 2, 0, 1) if array.ndim == 4 else array.T


def by_torch(model, w, x, y):
    """Loss and gradient in float64, as our vector."""
    net = peers.torch_row(model.layers, model.input).double()
    ups = {id(m.weight) for m in net.modules() if isinstance(m, torch.nn.ConvTranspose2d)}
    views = [array for part in model.views(w) for array in part]
    with torch.no_grad():
        for place, array in zip(net.parameters(), views, strict=True):
            value = array.transpose(2, 3, 0, 1) if id(place) in ups else as_torch(array)
            place.copy_(torch.from_numpy(np.ascontiguousarray(value)))
    scores = net(torch.from_numpy(x).permute(0, 3, 1, 2))
    loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(y))
    loss.backward()
    grad = np.zeros(model.size)
    places = [array for part in model.views(grad) for array in part]
    for array, source in zip(places, net.parameters(), strict=True):
        found = source.grad.numpy()
        turned = (2, 3, 0, 1) if id(source) in ups else (2, 3, 1, 0)
        array[...] = found.transpose(turned) if found.ndim == 4 else found.T
    return loss.item(), grad


@pytest.mark.parametrize("seed", range(NETWORKS))
def test_a_random_network_that_branches_has_the_loss_and_gradient_of_pytorch(seed):
    layers, shape = drawn(seed)
    exact, fast = Model(layers, shape, dtype=np.float64), Model(layers, shape)
    rng = np.random.default_rng([seed, 1])
    x, y = rng.standard_normal((3, *shape)), rng.integers(0, 4, 3)
    w = exact.initial(seed) + 0.1 * rng.standard_normal(exact.size)  # gains and shifts are not what they begin as
    loss, grad = by_torch(exact, w, x, y)
    ours, quick = np.zeros(exact.size), fast.zeros()
    assert exact.loss_and_grad(w, x, y, ours) == pytest.approx(loss, rel=1e-9)
    assert np.linalg.norm(ours - grad) < 1e-9 * np.linalg.norm(grad)
    assert fast.loss_and_grad(w.astype(np.float32), x.astype(np.float32), y, quick) == pytest.approx(loss, rel=1e-4)
    assert np.linalg.norm(quick - grad) < 1e-2 * np.linalg.norm(grad)  # a ReLU may flip where rounding decides


def test_networks_that_are_drawn_branch_and_nest():
    kinds = [type(layer).__name__ for seed in range(20) for _, layer, _ in Model(*drawn(seed)).walk()]
    assert kinds.count("Skip") > 10
    assert kinds.count("Residual") > 10
    assert kinds.count("Up") > 3
