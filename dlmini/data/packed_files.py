"""The wanted files of a folder or of a .tar.gz, without unpacking anything to disk."""

import gzip
import tarfile
import zlib
from pathlib import Path, PurePosixPath


def files_in(path: Path, wanted: set[str]) -> dict[str, bytes]:
    """Contents by file name, for those names of `wanted` that are there. An archive may hold them in a folder."""
    if path.is_dir():
        return {name: (path / name).read_bytes() for name in sorted(wanted) if (path / name).is_file()}
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; expected a folder or a .tar.gz archive")
    try:
        return archived(path, wanted)
    except (EOFError, OSError, zlib.error, tarfile.TarError) as error:
        raise ValueError(
            f"{path} is damaged: expected a whole .tar.gz archive, found {path.stat().st_size:,} bytes that do not "
            f"unpack ({error}); delete it and get it again"
        ) from error


def unzipped(path: Path):
    """The bytes of the archive; a browser may have undone its gzip already."""
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if zipped else open(path, "rb")


def archived(path: Path, wanted: set[str]) -> dict[str, bytes]:
    """One pass over the archive, to its very end: only there gzip compares its checksum."""
    found = {}
    with unzipped(path) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
        for member in archive:
            name = PurePosixPath(member.name).name
            if member.isfile() and name in wanted:
                found[name] = archive.extractfile(member).read()
        while packed.read(1 << 20):
            pass
    return found
