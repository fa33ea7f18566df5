"""The recordings that the package brings along, found by a lesson's number or name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dlmini.show.recordings.files import ENDING, read_runs
from dlmini.show.recordings.recorded import Recorded, recorded

SHELF = Path(__file__).parent


def shipped(folder: Path = SHELF) -> dict[str, Path]:
    """Name, such as 03_data_parallelism -> its file."""
    return {file.name.removesuffix(ENDING): file for file in sorted(folder.glob(f"*{ENDING}"))}


def opened(source) -> list[Recorded]:
    """The runs of a shipped recording ("03"), of a file of that kind, or the one of whatever `recorded` takes."""
    if isinstance(source, str | Path | int):
        path = found(source)
        if path.name.endswith(ENDING):
            return read_runs(path)
        source = path
    return [Recorded("recording", recorded(source))]


def found(source: str | Path | int) -> Path:
    """What lies at that place, if something does; else the shipped recording of that number or name."""
    here = Path(str(source))
    if here.exists():
        return here
    name = called(source, shipped())
    if name is not None:
        return shipped()[name]
    raise FileNotFoundError(
        f"no recording is called {str(source)!r}, and there is no such file or folder; shipped are "
        f"{', '.join(shipped())}; run.result().save(folder) makes one of your own"
    )


def called(wanted: str | Path | int, names: Iterable[str]) -> str | None:
    """Which of the names is meant: 03_data_parallelism is also 03, 3 and data parallelism."""
    word = str(wanted).strip().lower().replace(" ", "_").replace("-", "_")
    for name in names:
        number, _, title = name.partition("_")
        if word in (name, number, number.lstrip("0"), title):
            return name
    return None
