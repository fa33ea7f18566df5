"""The cache of compiled kernels survives what happens to caches: damage, missing rights, edits elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dlmini import jit

USE = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    from dlmini.optim import kernels
    w = np.ones(4, np.float32)
    kernels.sgd(np.ones(4, np.float32), w, np.float32(0.5), np.float32(0), w, True)
stats = kernels.sgd.stats
print(w[0], sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), len(seen))
for warning in seen:
    print(warning.message)
"""


def use(folder, **settings) -> list[str]:
    """Run a kernel in a new process: [result, cache hits, cache misses, warnings, text of warnings ...]."""
    env = {**os.environ, "DLMINI_CACHE": str(folder), "DLMINI_KERNELS": "numba", **settings}
    done = subprocess.run([sys.executable, "-c", USE], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(maxsplit=4)


@pytest.fixture
def filled(tmp_path):
    assert use(tmp_path)[:4] == ["0.5", "0", "1", "0"]
    return tmp_path


def test_a_second_process_loads_what_the_first_compiled(filled):
    assert use(filled)[:4] == ["0.5", "1", "0", "0"]


def test_machines_of_two_kinds_share_a_folder_and_no_file(filled):
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert use(filled, **other)[:4] == ["0.5", "0", "1", "0"]
    assert use(filled, **other)[:4] == use(filled)[:4] == ["0.5", "1", "0", "0"]
    one, two = (file.parent for file in filled.rglob("*.nbc"))
    assert one != two


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_is_compiled_anew_and_mended(filled, kind):
    damaged = list(filled.rglob(f"*.{kind}"))
    assert damaged
    for file in damaged:
        file.write_bytes(file.read_bytes()[:20])
    assert use(filled)[:4] == ["0.5", "0", "1", "0"]
    assert use(filled)[:4] == ["0.5", "1", "0", "0"]


TWO_TYPES = """
import numpy as np
from dlmini.compression.kernels.halves import add_dense
for kind in (np.float32, np.float64):
    out = np.zeros(4, kind)
    add_dense(np.arange(4, dtype=kind), kind(2), out)
    assert out.tolist() == [0, 2, 4, 6], out
print(sum(add_dense.stats.cache_hits.values()))
"""


def test_code_that_was_kept_under_the_name_of_other_types_is_not_run(tmp_path):
    """Two processes that compile one function for different types at once may leave this behind."""

    def hits() -> int:
        env = {**os.environ, "DLMINI_CACHE": str(tmp_path), "DLMINI_KERNELS": "numba"}
        return int(subprocess.run([sys.executable, "-c", TWO_TYPES], env=env, capture_output=True, check=True).stdout)

    assert (hits(), hits()) == (0, 2)
    one, other = sorted(tmp_path.rglob("*.nbc"))
    was = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(was)
    assert (hits(), hits()) == (0, 2)


def test_an_unwritable_cache_costs_one_warning_and_nothing_else(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder is wanted")
    found = use(blocked)
    assert found[:4] == ["0.5", "0", "1", "1"]
    assert "DLMINI_CACHE" in found[4]


def test_the_fingerprint_covers_every_kernel_that_a_kernel_can_call():
    """Kernels live in files or folders called kernels, and call nothing outside; so a folder is fingerprinted whole."""
    root = Path(jit.__file__).parent
    found = [f for f in root.rglob("*.py") if "@kernel" in f.read_text(encoding="utf-8") and f.name != "jit.py"]
    assert len(found) > 5
    for file in found:
        assert file.stem == "kernels" or file.parent.name == "kernels"
        assert set(jit.sources(file)) >= {file, root / "jit.py"}
    folder = root / "nn" / "kernels"
    assert set(folder.glob("*.py")) <= set(jit.sources(folder / "direct.py"))


def test_editing_a_file_changes_the_fingerprint(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text("one")
    before = jit.fingerprint.__wrapped__((file,))
    file.write_text("two")
    assert jit.fingerprint.__wrapped__((file,)) != before


def test_the_users_own_numba_settings_stay_as_they_are():
    from numba import config

    before = config.CACHE_DIR
    jit.kernel(lambda x: x)
    assert before == config.CACHE_DIR


LEVELS = """
import numba, numpy as np
from numba.core import config, event
from dlmini import jit
seen = []
class Listener(event.Listener):
    def on_start(self, event):
        pass
    def on_end(self, event):
        seen.append(int(config.OPT))
event.register("numba:run_pass", Listener())
@numba.njit
def theirs(x):
    return x + 1
theirs(1)
before = set(seen)
seen.clear()
from dlmini.optim import kernels
w = np.ones(4, np.float32)
kernels.sgd(np.ones(4, np.float32), w, np.float32(0.5), np.float32(0), w, True)
print(before, set(seen) == {min(jit.LEVEL, config.OPT)}, int(config.OPT))
"""


@pytest.mark.parametrize("level", [3, 0])
def test_kernels_are_optimised_lightly_and_what_a_user_compiles_as_they_say(tmp_path, level):
    env = {**os.environ, "DLMINI_CACHE": str(tmp_path), "DLMINI_KERNELS": "numba", "NUMBA_OPT": str(level)}
    done = subprocess.run([sys.executable, "-c", LEVELS], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout == f"{{{level}}} True {level}\n", done.stderr
