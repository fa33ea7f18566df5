"""A class of all hostile families beside honest hands: nobody is lost, honest marks stand, nobody gains by hostility.

Usually some of the hostile hand-ins and a few honest ones. DLMINI_LONG=1: all; twice, alone, killed ten times and
resumed, in both sandboxes, as this user and as one without rights. Such a user may use neither an interpreter nor
packages in somebody's home: run it as root by an interpreter in /usr, with the project and its packages in PYTHONPATH,
where everybody may read them.
"""

import csv
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from hostile_class import LESSON, hostile

from dlmini.grade.sandbox.levels import works
from dlmini.grade.sandbox.visible_files import PATH, passable, shown

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="links, pipes and sandboxes of Linux")
LONG = os.environ.get("DLMINI_LONG") == "1"
long_form = pytest.mark.skipif(not LONG, reason="DLMINI_LONG=1: minutes")
SCRIPT = Path(__file__).parent / "hostile_class.py"
NOBODY, MOST = 65534, 500  # megabytes of the judge
EVERY = 1 if LONG else 16


def program(*words, who=None, **more):
    """The class's own program; who: as whom."""
    as_user = {} if who is None else {"user": who, "group": who, "extra_groups": []}
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    env = {**os.environ, "HOME": "/nonexistent"} if who is not None else None
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, **as_user, **more
    )


def graded(*words, **more):
    run = program("grade", *words, **more)
    said, complaints = run.communicate()
    assert run.returncode == 0, complaints[-3000:]
    return json.loads(said.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The class; what of it is deserved is in deserved.json."""
    where = tmp_path_factory.mktemp("hostile") / "class"
    run = program("make", where, "--every", EVERY)
    assert run.wait() == 0, run.stderr.read()
    run.communicate()
    return where


@pytest.fixture(scope="module")
def deserved(folder):
    return json.loads((folder / "deserved.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def first(folder):
    """Graded once, in the best sandbox there is."""
    return graded(folder, folder.parent / "first")


def in_order(found, deserved):
    """Everybody is there, graded, and has what is deserved."""
    marks = found["marks"]
    assert set(marks) == set(deserved)
    for name, (most, honest) in deserved.items():
        score, complete, _ = marks[name]
        assert complete, name
        assert score == LESSON.points if honest else score <= most, (name, marks[name])
    assert found["megabytes"] < MOST
    honest = sum(honest for _, honest in deserved.values())
    print(f"{len(deserved) - honest} hostile, {honest} honest: {found['seconds']} s, judge {found['megabytes']} MB")


def left_behind(judge):
    """Runners of this judge that do not end."""
    mine = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("DLMINI_JUDGE") == str(judge):
                mine.append(process)
        except psutil.Error:
            continue
    return [p for p in psutil.wait_procs(mine, timeout=60)[1] if p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_everybody_is_named_honest_marks_stand_and_nobody_gains(folder, first, deserved):
    in_order(first, deserved)
    for table in ("grades.csv", "tests.csv"):
        with (folder.parent / "first" / table).open(encoding="utf-8", newline="") as file:
            assert len(list(csv.DictReader(file))) == len(deserved)
    page = (folder.parent / "first" / "index.html").read_text(encoding="utf-8")
    assert page.count('href="grader/') == len(deserved)
    assert "BREACH" not in (folder.parent / "first" / "journal.jsonl").read_text(encoding="ascii")


def test_the_memory_of_a_judge_is_its_own_and_not_that_of_who_started_it():
    """As a test run of many hundred megabytes does."""
    measure = (
        f"import sys; sys.path[:0] = {[str(SCRIPT.parent), *PATH]!r}; from hostile_class import peak; print(peak())"
    )
    large = f"import subprocess; kept = b'x' * (600 << 20); subprocess.run([{sys.executable!r}, '-c', {measure!r}])"
    done = subprocess.run([sys.executable, "-c", large], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < MOST


def test_the_class_has_all_families():
    assert len(list(hostile(random.Random(0)))) >= 80


@pytest.mark.slow
@long_form
@pytest.mark.timeout(3600)
def test_honest_marks_are_those_of_hand_ins_that_are_alone(folder, first):
    alone = graded(folder, folder.parent / "alone", "--alone")["marks"]
    assert len(alone) == 20
    for name, marks in alone.items():
        (here,) = (found for who, found in first["marks"].items() if who.startswith(name))
        assert here == marks


@pytest.mark.slow
@long_form
@pytest.mark.timeout(3600)
def test_twice_with_one_secret_gives_equal_marks(folder, first, deserved):
    second = graded(folder, folder.parent / "second", "--secret", folder.parent / "first" / "secret.txt")
    in_order(second, deserved)
    assert second["marks"] == first["marks"]


@pytest.mark.slow
@long_form
@pytest.mark.timeout(3600)
def test_killed_at_ten_random_moments_and_resumed_it_gives_equal_marks(folder, first):
    coin, out = random.Random(20), folder.parent / "killed"
    words = [folder, out, "--secret", folder.parent / "first" / "secret.txt", "--resume"]
    lines = len(first["marks"]) * len(LESSON.tests)
    moments = sorted(coin.randint(0, lines * 9 // 10) for _ in range(10))
    for moment in moments:
        run = program("grade", *words)
        while run.poll() is None and not (out / "journal.jsonl").exists() and moment:
            time.sleep(0.05)
        while run.poll() is None and moment and (out / "journal.jsonl").read_bytes().count(b"\n") < moment:
            time.sleep(0.05)
        time.sleep(coin.uniform(0, 3))
        assert run.poll() is None, run.stderr.read()
        run.kill()
        run.communicate()
        assert left_behind(run.pid) == []
    print(f"killed behind lines {moments} of {lines}")
    assert graded(*words)["marks"] == first["marks"]


@pytest.mark.slow
@long_form
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("who", [None, NOBODY], ids=["this user", "nobody"])
@pytest.mark.parametrize("sandbox", ["bwrap", "rlimit"])
def test_other_sandboxes_and_users_give_equal_marks(folder, first, deserved, sandbox, who):
    if sandbox == "bwrap" and (who is None or not works()):
        pytest.skip("that is the first one, or there is none")
    if who is not None and (
        os.getuid() or not all(map(passable, (*shown(), *PATH, os.path.realpath(sys.executable), str(SCRIPT.parent))))
    ):
        pytest.skip("nobody may not use this interpreter or these files, or we may not become nobody")
    place = folder.parent / f"{sandbox}-{who}"
    place.mkdir()
    if who is not None:
        for one in (folder.parent, *folder.parent.parents[:2]):
            one.chmod(one.stat().st_mode | 0o055)
        shutil.copy(folder.parent / "first" / "secret.txt", place / "given.txt")
        shutil.chown(place, who, who)
        shutil.chown(place / "given.txt", who, who)
    secret = folder.parent / "first" / "secret.txt" if who is None else place / "given.txt"
    found = graded(folder, place / "out", "--sandbox", sandbox, "--secret", secret, who=who)
    assert found["who"] == (os.getuid() if who is None else who)
    in_order(found, deserved)
    assert found["marks"] == first["marks"]
