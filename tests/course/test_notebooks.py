"""Every notebook reaches its end in the fast profile, and leaves neither a process nor shared memory behind."""

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest
from examples import some

from dlmini.comm.processes import segment as shared
from dlmini.course import warm_up as warm

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))
MARK = "DLMINI_TEST_RUN"  # in the environment of everything that a notebook starts
HANGS = 600  # seconds after which a notebook will never end; how long it takes is measured by `benchmarks notebooks`
GONE = 120  # the same for processes that have to notice that their kernel is gone

pytestmark = pytest.mark.notebooks


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """As `dlmini lab` does it before anybody opens a notebook."""
    for stage in warm.stages().values():
        stage()


def marked(mark: str) -> list[psutil.Process]:
    """Every process that was started under this mark, by whomever."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except (psutil.Error, OSError):  # somebody else's, or just gone
            continue
    return found


def left_over(mark: str) -> list[psutil.Process]:
    """Those that are still there after a while."""
    _, alive = psutil.wait_procs(marked(mark), timeout=GONE)
    return alive


class Begun:
    """A notebook on its way, with all exercises solved or with none begun."""

    def __init__(self, file: Path, written: str, folder: Path):
        self.mark, self.note, self.log = uuid.uuid4().hex, folder / "pid", folder / "log"
        folder.mkdir()
        shutil.copytree(PROJECT / written, folder / "exercises")
        private = {name: str(folder) for name in ("DLMINI_WORK", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
        env = {**os.environ, **private, MARK: self.mark, "DLMINI_PROFILE": "fast"}
        with open(self.log, "wb") as log:
            command = [sys.executable, HERE / "notebook_run.py", file, self.note]
            self.process = subprocess.Popen(command, env=env, stdout=log, stderr=log)

    def ends_and_leaves_nothing_behind(self) -> None:
        assert self.process.wait(HANGS) == 0, self.log.read_text(encoding="utf-8")[-4000:]
        assert [process.cmdline() for process in left_over(self.mark)] == []
        assert [path.name for path in shared.leftovers() if f"-{self.note.read_text()}-" in path.name] == []


@pytest.mark.timeout(3 * HANGS)
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_reaches_its_end_and_leaves_nothing_behind(file, tmp_path):
    """With no exercise begun, as everybody meets it; every second one, and all in the long form, also with all solved.

    The two run side by side. (Solutions are graded one by one in tests/grade.)
    """
    solved = ["solutions"] * (file in some(NOTEBOOKS, 2, 1))
    begun = [Begun(file, written, tmp_path / written) for written in (*solved, "exercises")]
    try:
        for one in begun:
            one.ends_and_leaves_nothing_behind()
    finally:
        for process in (process for one in begun for process in marked(one.mark)):
            process.kill()


def test_there_is_an_index():
    assert "index" in [file.stem for file in NOTEBOOKS]


def test_what_a_notebook_leaves_behind_is_found():
    """The search itself: a process that outlives its parent is seen by its mark."""
    mark = uuid.uuid4().hex
    held = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'import time; time.sleep(600)']))"
    parent = subprocess.Popen([sys.executable, "-c", held], env={**os.environ, MARK: mark})
    try:
        while len(found := marked(mark)) < 2:
            assert parent.poll() is None
        parent.kill()
        parent.wait()
        assert [process.pid for process in marked(mark)] == [
            process.pid for process in found if process.pid != parent.pid
        ]
    finally:
        for process in marked(mark):
            process.kill()
