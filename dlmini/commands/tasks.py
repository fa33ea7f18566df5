"""Words of `dlmini train` become a task: pictures that have a class, or pixels that do."""

from __future__ import annotations

from pathlib import Path

KINDS = ("classify", "segment")
USUAL = {"classify": ("lenet", "fashion-mnist", 50), "segment": ("unet", "aerial", 4)}  # model, data, batch
SETS = "fashion-mnist, mnist, cifar10, cifar100; for segment aerial, or a folder with images and masks"
TILE = 128  # pixels on a side
TRAIN, TEST = 127, 30  # tiles, as in the classroom of the course's first source


def task_of(kind: str, model: str | None, data: str | None, batch: int | None, tile: int, full: bool, threads: int):
    """The task, and what it is in one line."""
    from dlmini import Classify, Segment
    from dlmini import command_words as words
    from dlmini.nn import ZOO

    if kind not in KINDS:
        raise ValueError(f"--task {kind}: choose one of {', '.join(KINDS)}")
    model, data, batch = (
        usual if given is None else given for given, usual in zip((model, data, batch), USUAL[kind], strict=True)
    )
    build = words.choose("model", model, ZOO)
    sets = tiles_of(data, tile) if kind == "segment" else pictures_of(data, full)
    if threads > batch:
        raise ValueError(
            f"--threads {threads}: a batch of {batch} images cannot be shared by so many; give at most {batch}"
        )
    net = build(input=sets[0].shape, classes=len(sets[0].classes), threads=threads)
    make = Segment if kind == "segment" else Classify
    return make(net, *sets, batch), f"{model}: {net.size:,} parameters · {len(sets[0]):,} images of {data}"


def pictures_of(data: str, full: bool):
    from dlmini.data import load

    return load(data, full=full)


def tiles_of(data: str, side: int):
    """Generated tiles, or those of a folder: of its train and test, or its last fifth to test."""
    from dlmini.data import aerial, read_folders

    if data == "aerial":
        return aerial(TRAIN, side, seed=0), aerial(TEST, side, seed=1)
    if not Path(data).is_dir():
        raise ValueError(f"--data {data}: to segment give aerial, or a folder with images, masks and a palette.txt")
    if all((Path(data) / part).is_dir() for part in ("train", "test")):
        return tuple(
            read_folders(Path(data) / part, palette(Path(data), part), tile=side) for part in ("train", "test")
        )
    whole = read_folders(data, tile=side)
    if len(whole) < 2:
        raise ValueError(
            f"--data {data}: one tile can not be both learned from and tried; cut smaller ones with --tile"
        )
    cut = min(len(whole) - 1, max(1, round(0.8 * len(whole))))
    return whole.subset(range(cut)), whole.subset(range(cut, len(whole)))


def palette(folder: Path, part: str):
    """That of the part itself, if it has one; else the one that both parts share."""
    from dlmini.data import read_palette

    return None if (folder / part / "palette.txt").is_file() else read_palette(folder / "palette.txt")
