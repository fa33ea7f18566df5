"""The recordings that the package brings along, found by a lesson's number or name."""

from __future__ import annotations

from pathlib import Path

from dlmini import lessons
from dlmini.show.recordings.files import ENDING, read_runs
from dlmini.show.recordings.recorded import Recorded, recorded

FILE = f"recording{ENDING}"  # in the folder of its lesson


def shipped() -> dict[str, Path]:
    """Name, such as 03_data_parallelism -> its file."""
    return {name: folder / FILE for name, folder in lessons.folders(FILE).items()}


def shipped_file(name: str) -> Path:
    """Where the recording of a lesson lies in the package."""
    return lessons.folders()[name] / FILE


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
    name = lessons.called(source, shipped())
    if name is not None:
        return shipped()[name]
    raise FileNotFoundError(
        f"no recording is called {str(source)!r}, and there is no such file or folder; shipped are "
        f"{', '.join(shipped())}; run.result().save(folder) makes one of your own"
    )
