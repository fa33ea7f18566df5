"""A town seen from above, made from a seed: six classes of very unequal shares, as in the aerial pictures of Vaihingen.

Streets form a bent grid; along them stand houses with gardens and yards, halls, parks; a river may flow through. The
sun stands anywhere, and so do shadows; roofs may be as grey as roads, cars as blue as water, lawns as dark as trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from dlmini.checks import lengths, real, whole
from dlmini.data.aerial_scene import HIGHEST, Scene, clouds, turned_axes
from dlmini.data.chance import TOWNS, generator
from dlmini.data.checks import UNLABELLED
from dlmini.data.dataset import Dataset

AERIAL = ("impervious surface", "building", "low vegetation", "tree", "car", "water")
PAVED, BUILDING, LAWN, TREE, CAR, WATER = range(len(AERIAL))

RED_ROOFS = [(176, 78, 52), (150, 66, 50), (190, 104, 70), (128, 58, 50), (168, 92, 64)]
ROOFS = np.array([*RED_ROOFS, (112, 112, 116), (84, 86, 94), (186, 170, 146)])
CARS = np.array([(225, 225, 228), (28, 28, 32), (150, 152, 156), (150, 30, 34), (48, 74, 120), (96, 100, 104)])


def aerial(n: int = 100, size=128, scale=2.0, noise=7.0, unlabelled: int = 0, seed: int = 0) -> Dataset:
    """Colour tiles of a town from above, with the class of every pixel.

    size: pixels on a side, or (rows, columns). scale: pixels to a metre; a house has about 11 m, a car 4.4.
    noise: deviation of the camera's noise, in grey levels. unlabelled: so many pixels on either side of a border
    between two classes are left without a label (255), as in the eroded reference of the ISPRS contest (3 pixels).
    Each tile has its own generator, so the first hundred of a thousand are the same as a hundred.
    Of 200 tiles of 128 pixels 28 % are paved, 28 % buildings, 19 % lawn, 21 % trees, 0.8 % cars and 3 % water.
    """
    n, shape = whole(n, "n", 1, hint="tiles"), sides(size)
    scale, noise = real(scale, "scale", above=0, most=100), real(noise, "noise", least=0, most=1e6)
    unlabelled = whole(unlabelled, "unlabelled", 0, hint="pixels on either side of a border")
    pairs = [tile(shape, scale, noise, unlabelled, generator(seed, 0, i, TOWNS)) for i in range(n)]
    x, y = (np.stack(arrays) for arrays in zip(*pairs, strict=True))
    return Dataset("aerial", x, y, AERIAL)


def sides(size) -> tuple[int, int]:
    hint = "pixels on a side, or (rows, columns)"
    if isinstance(size, tuple | list):
        found = lengths(size, "size")
        if len(found) != 2 or min(found) < 8:
            raise ValueError(f"size is {size!r}; it must be {hint}, each at least 8")
        return found
    return (whole(size, "size", 8, 2**15, hint=hint),) * 2


def tile(shape, scale: float, noise: float, unlabelled: int, draw) -> tuple[np.ndarray, np.ndarray]:
    """One picture and its mask."""
    scene = Scene(*shape, scale)
    town = Town(scene, draw)
    town.build()
    scene.shade(draw.uniform(0, 2 * pi), draw.uniform(0.6, 1.1), draw.uniform(0.45, 0.65))
    image = scene.picture(draw.uniform(0.85, 1.15) * draw.uniform(0.95, 1.05, 3), noise, draw)
    return image, without_borders(scene.label, unlabelled)


def without_borders(label: np.ndarray, width: int) -> np.ndarray:
    """The mask without what lies within `width` pixels of another class, in a square around each pixel."""
    low, high = label.copy(), label.copy()
    for _ in range(width):
        for axis in (0, 1):
            ends = np.pad(low, [(1, 1) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
            tops = np.pad(high, [(1, 1) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
            n = label.shape[axis]
            cut = [np.arange(k, k + n) for k in range(3)]
            low = np.minimum.reduce([np.take(ends, c, axis) for c in cut])
            high = np.maximum.reduce([np.take(tops, c, axis) for c in cut])
    return np.where(low == high, label, UNLABELLED).astype(np.uint8)


@dataclass
class Town:
    """A plan of streets, drawn at random, and how it is filled."""

    scene: Scene
    draw: np.random.Generator

    def __post_init__(self):
        draw = self.draw
        self.angle, self.block = draw.uniform(0, 2 * pi), draw.uniform((34, 28), (52, 40))  # metres between streets
        self.bend, self.wave = draw.uniform(0, 2.5), draw.uniform(18, 40)
        self.street = draw.uniform(2.6, 4.2, 2)  # half a street's width, pavements included
        self.origin = draw.uniform(0, 1, 2) * self.block

    def build(self) -> None:
        """From the ground up."""
        self.lawns()
        self.streets()
        if self.draw.random() < 0.22:
            self.river()
        for corner in self.corners():
            self.fill(corner)
        self.cars()

    def coordinates(self, down, right):
        """Places as (along, across) the streets, in blocks: whole numbers are the middles of streets."""
        along, across = turned_axes(down, right, self.angle)
        along = along + np.float32(self.bend) * np.sin(across / np.float32(self.wave))
        across = across + np.float32(self.bend) * np.sin(along / np.float32(self.wave))
        return (along + self.origin[0]) / self.block[0], (across + self.origin[1]) / self.block[1]

    def place(self, corner, part) -> np.ndarray:
        """(down, right) in metres of a point of a block; the bend is small enough to be left out."""
        along, across = (np.asarray(corner) + part) * self.block - self.origin
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([along * s + across * c, along * c - across * s])

    def corners(self) -> list[tuple[int, int]]:
        """The blocks that may be seen, in a fixed order."""
        rows, columns = self.scene.size
        ends = [self.coordinates(np.float32(d), np.float32(r)) for d in (0, rows) for r in (0, columns)]
        low, high = np.floor(np.min(ends, 0)).astype(int), np.ceil(np.max(ends, 0)).astype(int)
        return [(i, j) for i in range(low[0], high[0]) for j in range(low[1], high[1])]

    def rough(self, base, spread: float, cell: float) -> np.ndarray:
        """A colour with patches and grain, for each pixel of the scene."""
        shape = self.scene.label.shape
        patches = clouds(shape, max(2.0, cell * self.scene.scale), self.draw)
        grain = self.draw.standard_normal(shape, dtype=np.float32)
        return np.asarray(base, np.float32) + (spread * patches + 0.4 * spread * grain)[..., None]

    def lawns(self) -> None:
        green = np.array([104, 126, 74]) + self.draw.uniform(-16, 16, 3)
        dry = np.maximum(clouds(self.scene.label.shape, 60.0, self.draw), 0)[..., None] * np.float32([44, 18, 12])
        self.scene.paint(..., np.ones(self.scene.label.shape, bool), LAWN, self.rough(green, 13, 3.0) + dry)

    def streets(self) -> None:
        """Asphalt, with pale pavements on both sides."""
        along, across = self.coordinates(self.scene.down, self.scene.right)
        gaps = [np.abs(c - np.rint(c)) * b for c, b in zip((along, across), self.block, strict=True)]
        inside = (gaps[0] < self.street[0]) | (gaps[1] < self.street[1])
        kerb = np.minimum(gaps[0] - self.street[0], gaps[1] - self.street[1]) > -1.3
        grey = self.rough(self.draw.uniform(98, 130) + self.draw.uniform(-4, 4, 3), 7, 2.0)
        self.scene.paint(..., inside, PAVED, grey + np.where(kerb, np.float32(34), 0)[..., None])

    def river(self) -> None:
        """A bent band that cuts off whatever was there before."""
        rows, columns = self.scene.size
        angle, middle = self.draw.uniform(0, 2 * pi), self.draw.uniform(0.2, 0.8, 2) * (rows, columns)
        down, right = self.scene.down - np.float32(middle[0]), self.scene.right - np.float32(middle[1])
        along, across = turned_axes(down, right, angle)
        bank = across + 4 * np.sin(along / np.float32(self.draw.uniform(9, 20)))
        blue = np.array([62, 84, 88]) + self.draw.uniform(-22, 22, 3)
        self.scene.paint(..., np.abs(bank) < self.draw.uniform(3.5, 8), WATER, self.rough(blue, 4, 5.0))

    def fill(self, corner) -> None:
        """What stands in one block: houses and gardens, a hall with its car park, or a park."""
        kind = self.draw.random()
        if kind < 0.66:
            self.houses(corner)
        elif kind < 0.8:
            self.hall(corner)
        else:
            self.trees(corner, int(self.draw.integers(20, 45)), 4.4)

    def houses(self, corner) -> None:
        """Two rows of houses along the streets, each with a yard to the street; trees in the gardens behind."""
        count = int(self.draw.integers(2, 4))
        for side in (0.27, 0.73):
            for k in range(count):
                part = np.array([(k + 0.5 + self.draw.uniform(-0.08, 0.08)) / count * 0.84 + 0.08, side])
                if self.draw.random() < 0.7:
                    yard = part + np.array([self.draw.uniform(-0.1, 0.1), 0.2 * np.sign(side - 0.5)])
                    self.yard(self.place(corner, yard), self.draw.uniform(4, 9), 0.28 * self.block[1])
                turn = self.angle + self.draw.uniform(-0.06, 0.06) + (pi / 2 if self.draw.random() < 0.3 else 0)
                size = self.draw.uniform((9.5, 8), (14, 11))
                self.roof(self.place(corner, part), *size, turn, gable=self.draw.random() < 0.75)
        self.trees(corner, int(self.draw.integers(9, 24)), 3.4)

    def hall(self, corner) -> None:
        """One large flat roof on paved ground."""
        self.yard(self.place(corner, (0.5, 0.5)), *(0.8 * self.block))
        size = self.block * self.draw.uniform(0.4, 0.62, 2)
        self.roof(self.place(corner, self.draw.uniform(0.42, 0.58, 2)), *size, self.angle, gable=False)
        self.trees(corner, int(self.draw.integers(4, 14)), 3.2)

    def yard(self, centre, length: float, width: float) -> None:
        box, inside, *_ = self.scene.rectangle(centre, length, width, self.angle)
        grey = self.draw.uniform(110, 165) + self.draw.uniform(-10, 10, 3)
        self.scene.paint(box, inside & (self.scene.label[box] != WATER), PAVED, grey)

    def roof(self, centre, length: float, width: float, angle: float, gable: bool) -> None:
        """A gable roof has a ridge along its length and one side that is brighter; a flat one has boxes on it."""
        if self.scene.at(centre) == WATER or not self.scene.sees(centre, length + width):
            return
        box, inside, along, across = self.scene.rectangle(centre, length, width, angle)
        colour = ROOFS[self.draw.integers(len(ROOFS))] + self.draw.uniform(-14, 14, 3)
        eaves = self.draw.uniform(4, 7)
        if gable:
            bright = np.where(across > 0, *self.draw.permutation([0.8, 1.12])).astype(np.float32)
            rise = eaves + 3.5 * (1 - np.abs(across))
        else:
            bright = 1 + 0.12 * (np.maximum(np.abs(along), np.abs(across)) > 0.93)
            rise = np.full(inside.shape, eaves)
        grain = 6 * self.draw.standard_normal(inside.shape, dtype=np.float32)
        self.scene.paint(box, inside, BUILDING, colour.astype(np.float32) * bright[..., None] + grain[..., None], rise)

    def trees(self, corner, count: int, radius: float) -> None:
        """Crowns in a block, not on roofs nor in the water; now and then one hangs over the street."""
        places, sizes = self.draw.uniform(0.04, 0.96, (count, 2)), radius * self.draw.uniform(0.45, 1.25, count)
        waves, tints = self.draw.uniform((3, 0), (8, 2 * pi), (count, 2)), self.draw.uniform(-16, 16, (count, 3))
        for part, size, wave, tint in zip(places, sizes, waves, tints, strict=True):
            centre = self.place(corner, part)
            if self.scene.sees(centre, 1.4 * size) and self.scene.at(centre) not in (BUILDING, WATER):
                self.tree(centre, size, wave, np.array([58, 82, 46]) + tint)

    def tree(self, centre, size: float, wave, colour) -> None:
        """A crown, brighter in its middle, which no roof is under."""
        box, inside, near = self.scene.disc(centre, size, wave)
        inside &= self.scene.label[box] != BUILDING
        speckle = self.draw.standard_normal(inside.shape, dtype=np.float32)
        crown = colour.astype(np.float32) * (0.72 + 0.5 * near + 0.16 * speckle)[..., None]
        self.scene.paint(box, inside, TREE, crown, np.minimum(HIGHEST, (3 + 1.3 * size) * np.sqrt(near.clip(0))))

    def cars(self) -> None:
        """Parked along the streets, and on yards."""
        rows, columns = self.scene.size
        for _ in range(int(self.draw.poisson(rows * columns / 110))):
            centre, turn = self.draw.uniform(0, (rows, columns)), self.angle + pi / 2 * self.draw.integers(2)
            size, colour = self.draw.uniform((3.9, 1.7), (5.0, 2.0)), CARS[self.draw.integers(len(CARS))]
            box, inside, along, _ = self.scene.rectangle(centre, *size, turn)
            if inside.any() and (self.scene.label[box][inside] == PAVED).all():
                window = np.where(np.abs(np.abs(along) - 0.45) < 0.14, 0.5, 1.0).astype(np.float32)[..., None]
                self.scene.paint(box, inside, CAR, colour.astype(np.float32) * window, 1.4)
