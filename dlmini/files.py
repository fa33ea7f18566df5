"""Result files. Writing one so that it is there whole or not at all: aside first, onto the disk, then into its place.

    write("weights.npz", lambda stream: np.savez(stream, w=w))
    write_text("table.csv", text)
A full disk, a quota or a signal costs what is being written, never what was there before.

Reading one that may be damaged:  try ... except DAMAGED as error: raise ValueError(f"... ({why(error)})") from error
"""

from __future__ import annotations

import glob
import io
import os
import re
import secrets
import shutil
import stat
import struct
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

DEAD = 3600  # seconds without a byte
# What readers of zip files, arrays and JSON raise when bytes are not what they should be.
DAMAGED = (OSError, EOFError, BadZipFile, zlib.error, struct.error, ValueError, LookupError, TypeError, AttributeError)
DAMAGED += (NotImplementedError, RuntimeError, MemoryError, OverflowError, SyntaxError)
CELL_FILE = re.compile(r"[^\s\"'(]*ipykernel_\d+[/\\]\d+\.py")  # where a kernel keeps a cell: another name each time


def why(error: Exception) -> str:
    """What a reader found wrong, in one line. NumPy takes any junk for pickles, and tells how to load them unsafely."""
    said = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return "it holds no plain arrays" if "allow_pickle" in str(error) else said


def plainly(error: Exception) -> str:
    """What it says, without the system's number of it."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error))


def write_text(file, text: str) -> Path:
    """Lines end as they do in `text`, on every system."""
    return write_bytes(file, text.encode())


def write_bytes(file, data: bytes) -> Path:
    return write(file, lambda stream: stream.write(data))


def write(file, content: Callable[[io.RawIOBase], object], called=None) -> Path:
    """Let `content` write to a stream; what it wrote then takes the place of `file`.

    A link stays a link, and its target is replaced. Devices and pipes are written to as they are.
    called: the name that errors use, where `file` itself will be moved.
    """
    named(file, "path", "the name of a file")
    place = Path(os.path.realpath(file))
    try:
        if is_device(file, place):
            fill(place, "wb", content)
        else:
            put_aside(place, content)
    except OSError as error:
        raise told(error, called or file) from error
    return Path(file)


def write_folder(folder, contents: dict[str, Callable[[io.RawIOBase], object]]) -> Path:
    """A new folder with these files, by name: all of them, or none and no folder."""
    folder = named(folder, "folder", "the name of a new folder")
    demand_new(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = beside(folder)
    aside.mkdir()
    try:
        for name, content in contents.items():
            write(aside / name, content, called=folder / name)
        demand_new(folder)  # others may have made it in the meantime
        os.rename(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def named(place, name: str, wanted: str) -> Path:
    """A place by its name. The checks are imported when needed: commands that compute nothing do without NumPy."""
    if isinstance(place, str | os.PathLike) and str(place):
        return Path(place)
    from dlmini.checks import refuse

    return refuse(TypeError, name, place, wanted)


def demand_new(folder) -> None:
    """Results are never mixed with, or put in the place of, earlier ones: better said before a run than after it."""
    if os.path.lexists(folder):
        raise FileExistsError(f"{folder} is there already; results go to a new folder: name another, or move it away")
    above = next(place for place in Path(os.path.abspath(folder)).parents if os.path.lexists(place))
    if not os.path.isdir(above) or not os.access(above, os.W_OK | os.X_OK):
        raise NotADirectoryError(f"{folder} cannot be made: {above} is no folder that may be written to")


def kept(place, write_to: Callable[[Path], object]) -> tuple[Path, str]:
    """write_to(place), and the place. Where that fails, what was computed is not lost: it goes to the home folder, or
    where temporary files do; then also why."""
    place = Path(place)
    try:
        write_to(place)
        return place, ""
    except OSError as error:
        for folder in (Path.home(), Path(tempfile.gettempdir())):
            other = folder / f"{place.stem}.{secrets.token_hex(2)}{place.suffix}"
            with suppress(OSError):
                write_to(other)
                return other, str(error)
        raise


def demand_place(file) -> None:
    """Whether a file could be written there, as far as can be known before: better said before a run than after it."""
    try:
        permission(Path(os.path.realpath(file)))
        if not os.path.isdir(folder := os.path.dirname(os.path.realpath(file))) or not os.access(folder, os.W_OK):
            raise FileNotFoundError(f"{folder} is no folder that may be written to")
    except OSError as error:
        raise told(error, file) from error


def is_device(file, place: Path) -> bool:
    """Also where standard output, named as /dev/stdout, goes to a file: others hold that file open."""
    named = os.path.islink(file) and os.path.abspath(file).startswith(("/dev/", "/proc/"))
    return named or (place.exists() and not place.is_file() and not place.is_dir())


def put_aside(place: Path, content) -> None:
    """Beside it, whole and on the disk; then in its place."""
    mode = permission(place)
    sweep(place)
    aside = beside(place)
    try:
        fill(aside, "xb", content)
        if mode is not None:
            os.chmod(aside, mode)
        os.replace(aside, place)
    finally:
        aside.unlink(missing_ok=True)  # it is there only if something went wrong


def beside(place: Path) -> Path:
    """A name of nobody's, in the same folder: a rename never crosses disks."""
    return place.with_name(f".{place.name[:100]}.{secrets.token_hex(4)}.part")


def sweep(place: Path) -> None:
    """Remove what writers of the same file left when they were killed; one that lives has written lately."""
    for left in place.parent.glob(f".{glob.escape(place.name[:100])}.{'[0-9a-f]' * 8}.part"):
        with suppress(OSError):
            if left.is_file() and time.time() - left.stat().st_mtime > DEAD:
                left.unlink()


def permission(place: Path) -> int | None:
    """The mode of the file that is there. A rename would not ask whether it may be overwritten, so we do."""
    if place.is_dir():
        raise IsADirectoryError("it is a folder")
    if not place.exists():
        return None
    if not os.access(place, os.W_OK):
        raise PermissionError("it may not be overwritten")
    return stat.S_IMODE(place.stat().st_mode)


def fill(file: Path, mode: str, content) -> None:
    with open(file, mode, buffering=0) as raw:
        stream = Patient(raw)
        content(stream)
        stream.check()
        if file.is_file():
            os.fsync(raw.fileno())


class Patient(io.RawIOBase):
    """Writes to a file until that fails; from then on it only counts.

    So a writer that tidies up at its end, as zip files do, comes to its end, and we know how much there was to say.
    """

    def __init__(self, raw):
        self.raw, self.error, self.at, self.length, self.fitted = raw, None, 0, 0, 0

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self.raw.seekable()

    def tell(self) -> int:
        return self.at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.length}[whence]
        if self.error is None:
            self.raw.seek(self.at)
        return self.at

    def write(self, data) -> int:
        data = memoryview(data).cast("B")
        if self.error is None:
            self.pass_on(data)
        self.at += len(data)
        self.length = max(self.length, self.at)
        return len(data)

    def pass_on(self, data: memoryview) -> None:
        """The system may take a part at a time."""
        done = 0
        try:
            while done < len(data):
                done += self.raw.write(data[done:]) or 0
        except OSError as error:
            self.error = error
        self.fitted = max(self.fitted, self.at + done)

    def check(self) -> None:
        if self.error is not None:
            self.error.lacking = self.length, self.fitted
            raise self.error


def told(error: OSError, file) -> OSError:
    """The same kind of error, as a sentence that names the file and says how much room is missing."""
    why, before = error.strerror or str(error), "what was there before is untouched" if os.path.exists(file) else ""
    if hasattr(error, "lacking"):
        needed, fitted = error.lacking
        why = f"of {needed:,} bytes {fitted:,} fitted, {needed - fitted:,} are missing ({why}); make room"
    else:
        why += "; check the place"
    sentence = type(error)(f"{file} could not be written: {why}, or write elsewhere" + f" ({before})" * bool(before))
    sentence.errno = error.errno
    return sentence
