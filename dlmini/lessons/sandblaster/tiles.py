"""Portions as tiles, while they are handed out: one replica slowed by a slider, copies on and off, one killed."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import ipywidgets
import numpy as np

from dlmini.events import Fault
from dlmini.lessons.canvas import Picture, Stage, on_tiles
from dlmini.lessons.controls import Desk, Frame
from dlmini.lessons.sandblaster.handouts import REPLICAS, SLOW, Watched, portion_run
from dlmini.show.palette import CURVES

TILE, GAP, ACROSS = 14, 2, 8
WAITS = (230, 230, 230)
TINT = 0.45  # of a replica's colour on a tile that is under way
NOBODY = "nobody"


def colour(replica: int, share: float = 1.0) -> np.ndarray:
    """A replica's colour, mixed with white."""
    text = CURVES[replica % len(CURVES)]
    full = np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)])
    return (255 - share * (255 - full)).astype(np.uint8)


def board(portions: int, held: dict[int, list[int]], counted: dict[int, int]) -> np.ndarray:
    """Grey waits, pale is under way (a stripe for each copy), full is counted: in the colours of the replicas."""
    down, step = ceil(portions / ACROSS), TILE + GAP
    pixels = np.full((down * step - GAP, ACROSS * step - GAP, 3), 255, np.uint8)
    for portion in range(portions):
        top, left = portion // ACROSS * step, portion % ACROSS * step
        tile = pixels[top : top + TILE, left : left + TILE]
        tile[:] = WAITS
        holders = held.get(portion, ())
        for i, replica in enumerate(holders):
            tile[:, i * TILE // len(holders) : (i + 1) * TILE // len(holders)] = colour(replica, TINT)
        if portion in counted:
            tile[:] = colour(counted[portion])
    return pixels


def legend(dead: set[int]) -> np.ndarray:
    """A square for each replica; black: dead."""
    pixels = np.full((TILE, REPLICAS * (TILE + GAP) - GAP, 3), 255, np.uint8)
    for replica in range(REPLICAS):
        left = replica * (TILE + GAP)
        pixels[:, left : left + TILE] = (0, 0, 0) if replica in dead else colour(replica)
    return pixels


def frames(watched: Watched, same: bool) -> Iterator[Frame]:
    """A frame for each thing that became of a portion. same: whether the weights are those of a quiet run."""
    held, counted, dead, number, done, copies = {}, {}, set(), 0, 0, 0
    yield Frame(pictures(watched, held, counted, dead, number), (0.0, 0.0), "")
    for event in sorted((*watched.deaths, *watched.events), key=lambda event: event.at):
        if isinstance(event, Fault):
            dead.add(event.rank)
            held = {portion: [r for r in holders if r != event.rank] for portion, holders in held.items()}
            continue
        if event.number != number:
            number, held, counted = event.number, {}, {}
        if event.what in ("handed", "copied"):
            held.setdefault(event.portion, []).append(event.replica)
            copies += event.what == "copied"
        elif event.what == "counted":
            counted[event.portion] = event.replica
            held.pop(event.portion, None)
            done += 1
        said = f"{1000 * event.at:.0f} ms: replica {event.replica}, portion {event.portion}: {event.what}. "
        yield Frame(pictures(watched, held, counted, dead, number), (1000 * event.at, done), f"{said}Copies: {copies}.")
    end = f"{1000 * watched.seconds:.0f} ms, {copies} copies; weights {'' if same else 'NOT '}equal to a quiet run's."
    yield Frame(pictures(watched, held, counted, dead, number), (1000 * watched.seconds, done), end)


def pictures(watched: Watched, held, counted, dead, number) -> list[Picture]:
    name = f"portions, evaluation {number}: 2? is at replica 2, 2 is done by it"
    texts = [sign(portion, held, counted) for portion in range(watched.portions)]
    down = ceil(watched.portions / ACROSS)
    tiles = Picture(
        name, board(watched.portions, held, counted), place=(0, 0, 1, 0.8), letters=spread(texts, ACROSS, down)
    )
    whose = spread(["x" if replica in dead else str(replica) for replica in range(REPLICAS)], REPLICAS, 1)
    named = f"replicas 0 to {REPLICAS - 1}; x is dead"
    return [tiles, Picture(named, legend(dead), place=(0, 0.82, 0.6, 0.18), letters=whose)]


def spread(texts: list[str], across: int, down: int) -> tuple[tuple[float, float, str], ...]:
    return on_tiles(texts, across, down, TILE, GAP)


def sign(portion: int, held: dict[int, list[int]], counted: dict[int, int]) -> str:
    """Whose it is, as the tile's colour says: counted, or under way at one or more."""
    if portion in counted:
        return str(counted[portion])
    return "+".join(map(str, held[portion])) + "?" if held.get(portion) else ""


def live_portions() -> ipywidgets.VBox:
    """Choose how slow replica 1 is, whether there are copies, how many portions, and who is killed; press Start."""
    return portions_desk().box()


def portions_desk() -> Desk:
    choices = {
        "slower": ipywidgets.SelectionSlider(options=[1, 2, 5, 10, 20], value=10, description=f"replica {SLOW} slower"),
        "portions": ipywidgets.SelectionSlider(options=[16, 24, 40, 80], value=24, description="portions"),
        "backup": ipywidgets.Checkbox(value=True, description="copies of late ones"),
        "dead": ipywidgets.Dropdown(options=[NOBODY, *map(str, range(REPLICAS))], value=NOBODY, description="kill"),
    }

    def chosen() -> dict:
        dead = choices["dead"].value
        return {
            "slower": float(choices["slower"].value),
            "backup": choices["backup"].value,
            "dead": None if dead == NOBODY else int(dead),
            "portions": choices["portions"].value,
        }

    def play() -> Iterator[Frame]:
        asked = chosen()
        watched, quiet = portion_run(**asked), portion_run(portions=asked["portions"])
        return frames(watched, bool((watched.weights == quiet.weights).all()))

    def label() -> str:
        asked = chosen()
        words = [f"{asked['slower']:g} times slower", "copies" if asked["backup"] else "no copies"]
        return ", ".join(words + ([] if asked["dead"] is None else [f"{asked['dead']} killed"]))

    return Desk(Stage(axes=["virtual ms", "portions counted"]), choices, play, label, pause=lambda: 0.02)
