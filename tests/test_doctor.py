"""The doctor says what is wrong and how to mend it, on machines that we do not have."""

import os
import re
import subprocess
import sys

import pytest

from dlmini.comm.errors import RankFailed
from dlmini.commands.doctor import table
from dlmini.course import warm_up as warm
from dlmini.doctor import machine, pool, software
from dlmini.doctor.finding import BROKEN, GOOD, WARNING, good
from dlmini.doctor.visit import ill, safely

GB, MB = 1e9, 1e6

SITUATIONS = [
    (machine.cores(8, 8, None), GOOD, "8"),
    (machine.cores(8, 4, None), GOOD, "4 of 8"),
    (machine.cores(8, 1, None), WARNING, "take turns on one core"),
    (machine.cores(8, 8, 2.5), WARNING, "--cpus"),
    (machine.cores(8, 8, 0.5), WARNING, "take turns"),
    (machine.cores(2, 2, 16.0), GOOD, "2"),
    (machine.memory(8 * GB, 4 * GB, None), GOOD, "4.0 of 8.0 GB"),
    (machine.memory(8 * GB, 4 * GB, 0.2 * GB), BROKEN, "close other programs"),
    (machine.memory(8 * GB, 1 * GB, None), WARNING, "before class"),
    (machine.shared_memory(None), GOOD, "own means"),
    (machine.shared_memory(60 * MB), WARNING, "--shm-size"),
    (machine.shared_memory(900 * MB), GOOD, "900 MB"),
    (machine.disk("/home", 0.01 * GB), BROKEN, "Delete something"),
    (machine.disk("/home", 0.3 * GB), WARNING, "some room"),
    (machine.disk("/home", 30 * GB), GOOD, "30.0 GB"),
    (machine.clock(1e-7, 2030), GOOD, "100 ns"),
    (machine.clock(0.016, 2030), WARNING, "use Simulated"),
    (machine.clock(1e-7, 1970), WARNING, "Set the date"),
    (software.python((3, 10, 4), "/usr/bin/python"), BROKEN, "3.11 to 3.13"),
    (software.python((3, 14, 0), "/usr/bin/python"), BROKEN, "3.11 to 3.13"),
    (software.python((3, 13, 1), "/usr/bin/python"), GOOD, "3.13.1"),
    (software.packages({"numpy": "2.0"}, {"numpy": "1.26.4"}), BROKEN, "numpy 1.26.4 < 2.0"),
    (software.packages({"numpy": "2.0", "rich": ""}, {"numpy": "2.0"}), BROKEN, "rich is missing"),
    (software.packages({"numpy": "2.0.0", "rich": ""}, {"numpy": "2", "rich": "9rc1"}), GOOD, "2 present"),
    (software.packages({"numpy": "2.0"}, {"numpy": "10.1.0rc2"}), GOOD, "numpy 10.1.0rc2"),
    (software.kernel(None, "/venv/bin/python"), BROKEN, "ipykernel install --sys-prefix"),
    (software.kernel(["/other/python", "-m"], "/venv/bin/python"), WARNING, "Use `dlmini lab`"),
    (software.kernel(["python", "-m"], "/venv/bin/python"), GOOD, "this Python"),
    (software.mpi("Mpi needs mpi4py; pip install it", ""), WARNING, "Mpi needs mpi4py"),
    (software.mpi("", "Open MPI 5"), GOOD, "Open MPI 5"),
    (software.browser(None), WARNING, "apt install chromium"),
    (software.browser("/usr/bin/chromium"), GOOD, "chromium"),
    (pool.start("spawn", 14.0, 0.01), WARNING, "warm-up"),
    (pool.start("spawn", 1.0, 2.0), WARNING, "very busy"),
    (pool.start("forkserver", 0.9, 0.004), GOOD, "4 ms"),
    (pool.blas([1, 4]), BROKEN, "OMP_NUM_THREADS"),
    (pool.blas([1, 1]), GOOD, "1 in every worker"),
    (pool.kernels("numpy", "/cache", True, []), WARNING, "Unset it"),
    (pool.kernels("numba", "/cache", False, []), WARNING, "DLMINI_CACHE"),
    (pool.kernels("numba", "/cache", True, ["nn/kernels/tile.py"]), WARNING, "warm-up"),
    (pool.kernels("numba", "/cache", True, []), GOOD, "compiled"),
    (pool.segments(["/dev/shm/dlmini-1-2-3"]), GOOD, "1 left by processes that died, now removed"),
    (pool.segments([]), GOOD, "none"),
]


@pytest.mark.parametrize(("finding", "status", "words"), SITUATIONS)
def test_each_situation_gets_its_status_and_its_advice(finding, status, words):
    assert finding.status == status
    assert words in f"{finding.found} {finding.fix}"
    assert bool(finding.fix) == (status != GOOD)
    assert not finding.fix or finding.fix.endswith((".", "?"))


def test_only_what_is_broken_counts_as_ill():
    statuses = {finding.status: finding for finding, *_ in SITUATIONS}
    assert not ill([statuses[GOOD], statuses[WARNING]])
    assert ill([statuses[GOOD], statuses[BROKEN]])


@pytest.mark.parametrize(
    ("files", "cores", "room"),
    [
        ({}, None, None),
        ({"cpu.max": "max 100000\n", "memory.max": "max\n", "memory.current": "5\n"}, None, None),
        ({"cpu.max": "150000 100000\n", "memory.max": "1000\n", "memory.current": "400\n"}, 1.5, 600),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None, None),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5, None),
        ({"memory/memory.limit_in_bytes": str(2**63 - 4096), "memory/memory.usage_in_bytes": "7"}, None, None),
        ({"memory/memory.limit_in_bytes": "1000\n", "memory/memory.usage_in_bytes": "999\n"}, None, 1),
    ],
)
def test_the_limits_of_containers_are_read(tmp_path, files, cores, room):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert machine.cpu_quota(tmp_path) == cores
    assert machine.memory_limit(tmp_path) == room


def test_workers_that_cannot_start_are_a_finding(monkeypatch):
    def fail():
        raise RankFailed("rank 0 could not start:\nno memory", 0)

    monkeypatch.setattr(pool, "round_trip", fail)
    found = next(finding for finding in pool.visit() if finding.check == "workers")
    assert found.status == BROKEN
    assert found.found == "rank 0 could not start: no memory"


def test_a_check_that_fails_itself_does_not_hide_the_others():
    (found,) = safely("machine", lambda: [][0])
    assert found.status == BROKEN
    assert "IndexError" in found.found
    assert safely("machine", lambda: [good("a", "b")]) == [good("a", "b")]


def test_a_folder_that_cannot_be_written_is_noticed(tmp_path):
    assert pool.can_write(tmp_path / "new")
    (tmp_path / "file").write_text("")
    assert not pool.can_write(tmp_path / "file" / "below")


def test_after_warming_up_no_kernel_file_is_cold():
    for stage in warm.stages().values():
        stage()
    assert warm.cold() == []


def test_in_a_new_cache_every_kernel_file_is_cold(tmp_path):
    code = "from dlmini.course import warm_up as warm; print(*warm.cold())"
    env = {**os.environ, "DLMINI_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert {name.split("/")[0] for name in done.stdout.split()} == set(warm.ROOMS), done.stderr


def test_square_brackets_reach_the_reader(capsys):
    from rich.console import Console

    console = Console(width=200)
    console.print(table([software.mpi('pip install "dlmini[mpi]" brings both', "")]))
    assert 'pip install "dlmini[mpi]"' in capsys.readouterr().out


def test_the_command_looks_at_everything():
    done = subprocess.run(
        [sys.executable, "-m", "dlmini", "doctor"], capture_output=True, text=True, encoding="utf-8", timeout=240
    )
    names = ["Python", "packages", "Jupyter", "MPI", "Chromium", "cores", "memory", "shared", "disk", "clock"]
    for name in [*names, "segments", "kernels", "workers", "BLAS"]:
        assert name in done.stdout, done.stdout + done.stderr
    assert done.returncode == bool(re.search(r"│ broken", done.stdout))
