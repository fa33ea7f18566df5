"""Get a published set over the network, once: resume what was begun, believe nothing before its checksum agrees.

While a file is incomplete it is called `<file>.part`; it gets its own name in one step, after the md5 was checked.
"""

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from dlmini.data.catalogue import data_cache
from dlmini.data.sources import source_of
from dlmini.files import plainly

CHUNK = 1 << 18
PATIENCE = 30  # seconds without a single byte
NETWORK = (OSError, http.client.HTTPException)  # URLError, resets and time-outs are OSErrors
Report = Callable[[str, int, int | None], None]  # file, bytes so far, bytes in all (if the server says)


def fetch(name: str, *, folder=None, base_url: str | None = None, progress: Report | None = None) -> Path:
    """Download the set `name`, unless it is there already; return the folder that holds its files.

    `folder` is where sets live (the user's cache if not given); `base_url` names a mirror. Two processes that fetch
    the same set at once spoil each other's download: the checksum notices, and one of them must ask again.
    """
    source = source_of(name)
    home = Path(folder or data_cache()) / name
    home.mkdir(parents=True, exist_ok=True)
    for file, md5 in source.files.items():
        if not (home / file).exists() or md5_of(home / file) != md5:
            obtain((base_url or source.url).rstrip("/") + "/" + file, home / file, md5, progress or quiet)
    return home


def obtain(url: str, target: Path, md5: str, progress: Report) -> None:
    part = target.with_name(target.name + ".part")
    try:
        download(url, part, lambda done, total: progress(target.name, done, total))
    except ConnectionError as error:
        raise ConnectionError(
            f"{url} could not be downloaded: {error}. What has arrived is kept: run the command again to go on. "
            f"Without a network: get the file on another machine (md5 {md5}) and put it in {target.parent}"
        ) from error
    found = md5_of(part)
    if found != md5:
        part.unlink()
        raise ValueError(
            f"{url} arrived damaged or is another file: expected md5 {md5}, found {found}. It was deleted; "
            f"run the command again, and if that does not help, get the file elsewhere and put it in {target.parent}"
        )
    os.replace(part, target)


def download(url: str, part: Path, report: Callable[[int, int | None], None]) -> None:
    """Bring `part` to its full length. A broken connection is taken up again as long as each try brings something."""
    while True:
        before = size_of(part)
        try:
            if append(url, part, report):
                return
            reason = f"the connection ended after {size_of(part):,} bytes"
        except ConnectionError as error:
            reason = str(error)
        if size_of(part) <= before:
            raise ConnectionError(reason)


def append(url: str, part: Path, report: Callable[[int, int | None], None]) -> bool:
    """Ask for the bytes that `part` lacks; tell whether it is whole now."""
    done = size_of(part)
    answer = ask(url, done)
    if answer is None:
        return True
    with answer:
        continues = answer.status == http.client.PARTIAL_CONTENT
        done = done if continues else 0  # a server that cannot resume sends everything again
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length else None
        with open(part, "ab" if continues else "wb") as file:
            for chunk in chunks(answer):
                file.write(chunk)
                done += len(chunk)
                report(done, total)
    return total is None or done >= total


def ask(url: str, start: int):
    """Open `url` from byte `start`; None if the server has no bytes beyond it."""
    headers = {"User-Agent": "dlmini"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE)
    except NETWORK as error:
        if isinstance(error, urllib.error.HTTPError) and error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            return None
        raise ConnectionError(f"the server cannot be reached or refuses ({plainly(error)})") from error


def chunks(answer) -> Iterator[bytes]:
    """The body piece by piece. Only the network's faults become ConnectionErrors: a full disk is another story."""
    while True:
        try:
            chunk = answer.read1(CHUNK)  # what is there now: nothing is lost when the line breaks
        except NETWORK as error:
            raise ConnectionError(f"the connection broke ({plainly(error)})") from error
        if not chunk:
            return
        yield chunk


def size_of(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def md5_of(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def quiet(_file: str, _done: int, _total: int | None) -> None:
    pass


def command(name: str, folder=None) -> Path:
    """`dlmini data get NAME`: fetch with a progress bar for each file."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    with Progress("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn()) as bar:
        tasks = {}

        def show(file: str, done: int, total: int | None) -> None:
            if file not in tasks:
                tasks[file] = bar.add_task(file, total=total)
            bar.update(tasks[file], completed=done, total=total)

        return fetch(name, folder=folder, progress=show)
