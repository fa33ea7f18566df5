"""Small sets made from a seed, for lessons and tests: points in the plane and pictures with masks."""

import numpy as np

from dlmini.checks import real, whole
from dlmini.data.chance import PICTURES, POINTS, generator
from dlmini.data.dataset import Dataset

SHAPES = ("background", "disc", "square", "triangle")


def blobs(n: int = 300, classes: int = 3, spread: float = 0.5, seed: int = 0) -> Dataset:
    """Gaussian clouds around equally spaced points of a circle of radius 2.

        x = 2 (cos a_k, sin a_k) + spread * N(0, 1),   a_k = 2 pi k / classes
    Three clouds at spread 0.5 can nearly be told apart by straight lines; at 1.5 they cannot.
    """
    y, draw, spread = turns(n, classes), generator(seed, 0, 0, POINTS), real(spread, "spread", least=0, most=1e6)
    angle = 2 * np.pi * y / classes
    x = 2 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + spread * draw.standard_normal((len(y), 2))
    return Dataset("blobs", x.astype(np.float32), y, tuple(f"blob {k}" for k in range(classes)))


def spirals(n: int = 300, classes: int = 2, noise: float = 0.05, revolutions: float = 1.0, seed: int = 0) -> Dataset:
    """Arms wound into each other: no straight line separates them, a hidden layer does.

    r ~ U(0, 1);   x = r (cos a, sin a) + noise * N(0, 1),   a = 2 pi (revolutions r + k / classes)
    """
    y, draw, noise = turns(n, classes), generator(seed, 0, 0, POINTS), real(noise, "noise", least=0, most=1e6)
    revolutions = real(revolutions, "revolutions", least=-1e6, most=1e6)
    r = draw.random(len(y))
    angle = 2 * np.pi * (revolutions * r + y / classes)
    x = r[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1) + noise * draw.standard_normal((len(y), 2))
    return Dataset("spirals", x.astype(np.float32), y, tuple(f"arm {k}" for k in range(classes)))


def turns(n: int, classes: int) -> np.ndarray:
    """Labels 0, 1, ..., classes - 1, 0, 1, ...: as balanced as n allows."""
    return np.arange(whole(n, "n", 1, hint="rows")) % whole(classes, "classes", 1)


def shapes(n: int = 100, size: int = 32, noise: float = 12.0, seed: int = 0) -> Dataset:
    """Colour pictures of discs, squares and triangles, with the class of every pixel.

    Each picture has its own generator, so the first hundred of a thousand are the same as a hundred.
    """
    n, size = whole(n, "n", 1, hint="pictures"), whole(size, "size", 8, hint="pixels on a side")
    noise = real(noise, "noise", least=0, most=1e6)
    pairs = [picture(size, noise, generator(seed, 0, i, PICTURES)) for i in range(n)]
    x, y = (np.stack(arrays) for arrays in zip(*pairs, strict=True))
    return Dataset("shapes", x, y, SHAPES)


def picture(size: int, noise: float, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One to three shapes on a dark ground, later ones in front, with Gaussian noise."""
    image, mask = np.full((size, size, 3), draw.uniform(0, 60, 3)), np.zeros((size, size), np.uint8)
    for _ in range(draw.integers(1, 4)):
        kind, radius = draw.integers(1, len(SHAPES)), draw.uniform(size / 8, size / 4)
        inside = silhouette(kind, size, draw.uniform(radius, size - radius, 2), radius)
        image[inside], mask[inside] = draw.uniform(100, 255, 3), kind
    image += noise * draw.standard_normal(image.shape)
    return np.rint(image.clip(0, 255)).astype(np.uint8), mask


def silhouette(kind: int, size: int, centre: np.ndarray, radius: float) -> np.ndarray:
    """Which pixels the shape covers; each fits into the square of half width `radius` around its centre."""
    down, right = np.arange(size)[:, None] - centre[0], np.arange(size) - centre[1]
    if kind == SHAPES.index("disc"):
        return down**2 + right**2 <= radius**2
    if kind == SHAPES.index("square"):
        return np.maximum(abs(down), abs(right)) <= 0.8 * radius
    return (abs(right) <= (down + radius) / 2) & (down <= radius)
