"""What an aerial picture is made of: ground in metres, colours, classes, heights; and the light on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, cos, sin, tan

import numpy as np

HIGHEST = 12.0  # metres: no roof and no tree is higher


@dataclass
class Scene:
    """`rows` x `columns` pixels, `scale` of them to a metre. Paint it from the ground up: what comes later lies above.

    colour  (rows, columns, 3), 0 to 255          label  class of each pixel          height  in metres
    """

    rows: int
    columns: int
    scale: float
    colour: np.ndarray = field(init=False)
    label: np.ndarray = field(init=False)
    height: np.ndarray = field(init=False)

    def __post_init__(self):
        shape = self.rows, self.columns
        self.colour, self.label = np.zeros((*shape, 3), np.float32), np.zeros(shape, np.uint8)
        self.height = np.zeros(shape, np.float32)
        self.down = ((np.arange(self.rows, dtype=np.float32) + 0.5) / self.scale)[:, None]
        self.right = ((np.arange(self.columns, dtype=np.float32) + 0.5) / self.scale)[None, :]

    @property
    def size(self) -> np.ndarray:
        """(down, right) in metres."""
        return np.array([self.rows, self.columns]) / self.scale

    def near(self, centre, reach: float):
        """The pixels within `reach` metres of `centre`, as a pair of slices, and their places (down, right) from it."""
        box = tuple(
            slice(max(0, int((c - reach) * self.scale)), max(0, min(most, ceil((c + reach) * self.scale))))
            for c, most in zip(centre, (self.rows, self.columns), strict=True)
        )
        return box, self.down[box[0]] - np.float32(centre[0]), self.right[:, box[1]] - np.float32(centre[1])

    def sees(self, centre, reach: float) -> bool:
        """Whether anything within `reach` metres of `centre` may be in the picture."""
        return all(-reach < c < most + reach for c, most in zip(centre, self.size, strict=True))

    def at(self, place) -> int:
        """The class at a place in metres; -1 outside."""
        row, column = (int(p * self.scale) for p in place)
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return int(self.label[row, column]) if inside else -1

    def paint(self, box, inside, label: int, colour, height=0.0) -> None:
        """Give the pixels `inside` of a box a class, a colour (one, or one each) and a height."""
        self.colour[box][inside] = colour if np.ndim(colour) < 2 else colour[inside]
        self.label[box][inside] = label
        self.height[box][inside] = height if np.ndim(height) < 2 else height[inside]

    def rectangle(self, centre, length: float, width: float, angle: float):
        """(box, inside, along, across): pixels of a turned rectangle, and where they lie in it, from -1 to 1."""
        box, down, right = self.near(centre, float(np.hypot(length, width)) / 2 + 1 / self.scale)
        along, across = turned_axes(down, right, angle)
        along, across = along / np.float32(length / 2), across / np.float32(width / 2)
        return box, np.maximum(np.abs(along), np.abs(across)) <= 1, along, across

    def disc(self, centre, radius: float, wave: np.ndarray):
        """(box, inside, near): a round thing with a wavy outline; `near` falls from 1 in its middle to 0."""
        box, down, right = self.near(centre, 1.4 * radius)
        angle, (lobes, phase) = np.arctan2(down, right), wave
        edge = np.float32(radius) * (1 + np.float32(0.18) * np.sin(np.float32(lobes) * angle + np.float32(phase)))
        near = 1 - np.hypot(down, right) / edge
        return box, near > 0, near

    def shade(self, azimuth: float, elevation: float, dark: float) -> None:
        """Darken what lies in the shadow of something higher: march towards the sun until nothing can reach.

        A pixel lies in shadow if, d metres towards the sun, something is higher than itself by d tan(elevation).
        """
        lit, slope = np.zeros(self.label.shape, bool), tan(elevation)
        for step in range(1, ceil(HIGHEST / slope * self.scale) + 1):
            rows, columns = round(step * sin(azimuth)), round(step * cos(azimuth))
            lit |= shifted(self.height, rows, columns) > self.height + step / self.scale * slope
        self.colour *= np.where(lit, dark, 1.0).astype(np.float32)[..., None]

    def picture(self, gain: np.ndarray, noise: float, draw: np.random.Generator) -> np.ndarray:
        """What a camera sees: slightly blurred, with a colour cast and Gaussian noise, in whole grey levels."""
        seen = blurred(self.colour) * gain.astype(np.float32)
        seen += np.float32(noise) * draw.standard_normal(seen.shape, dtype=np.float32)
        return np.rint(seen.clip(0, 255)).astype(np.uint8)


def turned_axes(down, right, angle: float):
    """Places (down, right) as (along, across) a direction: an angle from `right` towards `down`."""
    c, s = np.float32(cos(angle)), np.float32(sin(angle))
    return right * c + down * s, down * c - right * s


def shifted(field: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """out[i, j] = field[i + rows, j + columns], and 0 where that lies outside."""
    out = np.zeros_like(field)
    (to_r, from_r), (to_c, from_c) = (overlap(n, k) for n, k in zip(field.shape, (rows, columns), strict=True))
    out[to_r, to_c] = field[from_r, from_c]
    return out


def overlap(length: int, shift: int) -> tuple[slice, slice]:
    low, high = max(0, -shift), min(length, length - shift)
    return slice(low, max(low, high)), slice(low + shift, max(low, high) + shift)


def blurred(image: np.ndarray) -> np.ndarray:
    """Each pixel with its neighbours, 1/4 1/2 1/4 down and across; edges are repeated."""
    for axis in (0, 1):
        first, last = np.take(image, [0], axis), np.take(image, [-1], axis)
        before = np.concatenate([first, np.delete(image, -1, axis)], axis)
        after = np.concatenate([np.delete(image, 0, axis), last], axis)
        image = (before + after) * np.float32(0.25) + image * np.float32(0.5)
    return image


def clouds(shape: tuple[int, int], cell: float, draw: np.random.Generator) -> np.ndarray:
    """Smooth noise between -1 and 1: random numbers every `cell` pixels, straight lines between them."""
    knots = [int(n / cell) + 2 for n in shape]
    values = draw.uniform(-1, 1, knots).astype(np.float32)
    for axis, n in enumerate(shape):
        place = np.arange(n, dtype=np.float32) / np.float32(cell)
        low = place.astype(int)
        part = (place - low).reshape((-1, 1) if axis == 0 else (1, -1))
        values = np.take(values, low, axis) * (1 - part) + np.take(values, low + 1, axis) * part
    return values
