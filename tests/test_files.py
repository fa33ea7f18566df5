"""What is written is there whole or not at all, and what was there before stays until then."""

import errno
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dlmini
from dlmini import files

HOUSE = Path(dlmini.__file__).parent
# Opened to write, but nobody's result: streams, a settings file, a download that goes on later, a program for a moment.
OTHERS = {"data/download.py", "course/jupyter.py", "grade/journal.py", "comm/mpi/key_file.py"}
OTHERS |= {"studies/hosts.py", "grade/protections.py", "grade/secret.py", "grade/demo/class_of_thirty.py"}  # made new
OTHERS |= {"volunteer/project.py"}  # what its processes print
OTHERS |= {"grade/sandbox/memory_groups.py"}  # the kernel's own files: orders, not results


def full_disk(limit):
    """Only so many bytes of a file fit, as the system would say it."""

    class Full:
        def __init__(self, raw):
            self.raw, self.left = raw, limit

        def write(self, data):
            fits = min(self.left, len(data))
            if not fits:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.left -= fits
            return self.raw.write(data[:fits])

        def __getattr__(self, name):
            return getattr(self.raw, name)

    return Full


def zipped(stream):
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a", bytes(5000))
        archive.writestr("b", bytes(5000))


def picture(stream):
    from dlmini.show.paper import sheet

    figure, axes = sheet(2, 2)
    axes.plot(np.random.default_rng(0).random(200))
    figure.savefig(stream, format="png")


WRITERS = {
    "savez": lambda stream: np.savez(stream, a=np.arange(1000), b=np.ones(3)),
    "save": lambda stream: np.save(stream, np.arange(1000)),
    "zip": zipped,
    "picture": picture,
    "bytes": lambda stream: stream.write(b"x" * 5000),
}


@pytest.mark.parametrize("content", WRITERS.values(), ids=WRITERS)
def test_what_a_stream_is_given_is_what_the_file_holds(tmp_path, content):
    with open(tmp_path / "plain", "wb") as stream:
        content(stream)
    files.write(tmp_path / "file", content)
    assert (tmp_path / "file").read_bytes() == (tmp_path / "plain").read_bytes()
    assert {f.name for f in tmp_path.iterdir()} == {"file", "plain"}


@pytest.mark.parametrize("content", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("fits", [0, 1, 700, 4000])
def test_a_full_disk_costs_nothing_and_the_error_says_what_is_missing(tmp_path, monkeypatch, content, fits):
    files.write(tmp_path / "whole", content)
    size = (tmp_path / "whole").stat().st_size
    (tmp_path / "file").write_bytes(b"old")
    patient = files.Patient
    monkeypatch.setattr(files, "Patient", lambda raw: patient(full_disk(fits)(raw)))
    with pytest.raises(OSError, match=f"file could not be written: of {size:,} bytes {fits:,} fitted, ") as error:
        files.write(tmp_path / "file", content)
    assert f"{size - fits:,} are missing" in str(error.value)
    assert "untouched" in str(error.value)
    assert error.value.errno == errno.ENOSPC
    assert (tmp_path / "file").read_bytes() == b"old"
    assert {f.name for f in tmp_path.iterdir()} == {"file", "whole"}


LIMITED = """
import resource, signal, sys
import numpy as np
from dlmini import Dense, Model

model = Model([Dense(50)], (40,))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    model.save(sys.argv[1], model.initial(1))
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are POSIX")
def test_a_limit_of_the_system_itself_costs_no_weights(tmp_path):
    """The same through the kernel: files of this process may have 3000 bytes, and the weights need more."""
    from dlmini import Dense, Model

    model, file = Model([Dense(50)], (40,)), tmp_path / "weights.npz"
    model.save(file, model.initial(0))
    said = subprocess.run([sys.executable, "-c", LIMITED, file], capture_output=True, text=True, check=True).stdout
    assert f"{file} could not be written" in said
    assert "3,000 fitted" in said
    np.testing.assert_array_equal(model.load(file), model.initial(0))
    assert os.listdir(tmp_path) == ["weights.npz"]


def test_an_error_of_the_writer_costs_nothing(tmp_path):
    (tmp_path / "file").write_bytes(b"old")

    def content(stream):
        stream.write(b"new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write(tmp_path / "file", content)
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_a_killed_writer_left_is_removed_by_the_next_and_what_a_living_one_writes_is_not(tmp_path):
    left, young = tmp_path / ".a[1].npz.0123abcd.part", tmp_path / ".a[1].npz.4567cdef.part"
    other, mine = tmp_path / ".b.npz.0123abcd.part", tmp_path / ".a[1].npz.backup0.part"
    for file in (left, young, other, mine):
        file.write_text("half")
    for file in (left, other, mine):
        os.utime(file, (0, 0))
    files.write_text(tmp_path / "a[1].npz", "whole")
    assert {*tmp_path.iterdir()} == {tmp_path / "a[1].npz", young, other, mine}


def test_many_writers_at_once_leave_one_of_their_files_whole(tmp_path):
    texts = [str(i) * 50_000 for i in range(8)]
    threads = [threading.Thread(target=files.write_text, args=(tmp_path / "file", text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_text() in texts
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes are POSIX")
def test_links_modes_and_devices_keep_their_meaning(tmp_path):
    (tmp_path / "target").write_text("old")
    os.chmod(tmp_path / "target", 0o640)
    (tmp_path / "link").symlink_to("target")
    files.write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o640
    files.write_text(os.devnull, "nothing")
    assert not os.path.isfile(os.devnull)


def test_a_new_file_has_the_mode_that_any_new_file_has(tmp_path):
    (tmp_path / "plain").write_text("")
    files.write_text(tmp_path / "file", "")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_places_that_cannot_be_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.x could not be written: .*check the place"):
        files.write_text(tmp_path / "nowhere" / "x", "")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        files.write_text(tmp_path, "")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        files.demand_place(tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder that may be written to"):
        files.demand_place(tmp_path / "nowhere" / "x")
    files.demand_place(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_folder_is_written_whole_or_not_at_all(tmp_path):
    def fails(stream):
        raise OSError(errno.EIO, "the disk is broken")

    with pytest.raises(OSError, match=r"run.b could not be written: the disk is broken"):
        files.write_folder(tmp_path / "new" / "run", {"a": zipped, "b": fails})
    assert not list((tmp_path / "new").iterdir())
    files.write_folder(tmp_path / "new" / "run", {"a": zipped, "b": zipped})
    assert sorted(os.listdir(tmp_path / "new" / "run")) == ["a", "b"]
    with pytest.raises(FileExistsError, match="is there already; results go to a new folder"):
        files.write_folder(tmp_path / "new" / "run", {"c": zipped})


def test_a_name_of_the_greatest_length_can_be_written(tmp_path):
    files.write_text(tmp_path / ("n" * 255), "x")
    assert (tmp_path / ("n" * 255)).read_text() == "x"


def test_nobody_in_the_house_opens_a_result_to_overwrite_it():
    """A new writer of files belongs to files.py too, or to the few that have a reason."""
    import re

    by_name = r"""\.write_(text|bytes)\(|open\([^)\n]*["'][wxa]b?["']"""
    opens = re.compile(by_name + r"|savefig\([^)]*/|ZipFile\(out|np\.savez?\((?!stream)")
    for file in HOUSE.rglob("*.py"):
        name = file.relative_to(HOUSE).as_posix()
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if opens.search(line)]
        lines = [line for line in lines if not re.search(r"files\.write|\.gitignore|\"\"\"|`np", line)]
        assert not lines or name in {*OTHERS, "files.py"}, f"{name}: {lines}"


def test_result_files_are_written_without_numpy(tmp_path):
    """So commands that compute nothing start at once."""
    code = f"import sys; from dlmini import files; files.write_text({str(tmp_path / 'a')!r}, 'b'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout.split()
    with pytest.raises(TypeError, match=r"path is None; it must be the name of a file"):
        files.write_text(None, "b")
    with pytest.raises(TypeError, match=r"folder is 3; it must be the name of a new folder"):
        files.write_folder(3, {})
