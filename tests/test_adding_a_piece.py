"""docs/adding_a_piece.md, followed to the letter, in a cell and as files: a piece is one file and its test."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dlmini import SGD, Classify, Dense, Model, Processes, Recipe, Simulated, blobs, train

PROJECT = Path(__file__).parents[1]
PAGE = (PROJECT / "docs" / "adding_a_piece.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^\*\*`([^`]+)`\*\*\n\n```python\n(.*?)^```$", PAGE, re.M | re.S))
OWN = "pieces_of_my_own.py"
COMPRESSOR, TOPOLOGY = "dlmini/compression/block_max.py", "dlmini/topology/left_hand.py"
SHOWN = """
from dlmini import command_words as words
from dlmini.show.dashboard_choices import HOW_BRIEFLY
import dlmini
print(words.read_compression("block_max:7"), words.read_topology("left_hand"), "BlockMax" in dlmini.__all__)
print(HOW_BRIEFLY["the largest of 100 (block)"], dlmini.LeftHand().matrix(3, 0)[0].tolist())
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of the package and of its tests, with the page's files."""
    root = tmp_path_factory.mktemp("clone")
    for name in ("dlmini", "tests"):
        shutil.copytree(PROJECT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "ARCHITECTURE.md"):
        shutil.copy(PROJECT / name, root)
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def run(root, *words):
    env = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, *words], cwd=root, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def made_in_a_cell(file):
    cell = {"__name__": "__main__"}
    exec(FILES[file], cell)
    return cell


@pytest.mark.parametrize("on", [Simulated(1), Simulated(5), Processes(2)], ids=["alone", "simulated", "processes"])
def test_ten_lines_each_train_together(on):
    sets = blobs(300, seed=1), blobs(100, seed=2)
    task = Classify(Model([Dense(3)], sets[0].shape), *sets, batch=10)
    cell = made_in_a_cell(OWN)
    recipe = Recipe(cell["Doubling"](4), cell["RightHand"](), cell["First"](0.9), optimizer=SGD(0.1), rounds=25)
    outcome = train(task, recipe, on).result()
    assert outcome.accuracy > 0.6
    untouched = int(0.9 * task.size)
    assert (outcome.weights[untouched:] == task.initial(0)[untouched:]).all()
    assert (outcome.weights[:untouched] != task.initial(0)[:untouched]).all()


@pytest.mark.parametrize("on", [Simulated(3), Processes(2)], ids=["simulated", "processes"])
def test_pieces_of_a_cell_train_at_once(on):
    sets = blobs(300, seed=1), blobs(100, seed=2)
    task = Classify(Model([Dense(3)], sets[0].shape), *sets, batch=10)
    block_max, left_hand = made_in_a_cell(COMPRESSOR)["BlockMax"], made_in_a_cell(TOPOLOGY)["LeftHand"]
    recipe = Recipe(topology=left_hand(), compression=block_max(3), optimizer=SGD(0.1), rounds=60)
    assert train(task, recipe, on).result().accuracy > 0.9


def test_a_piece_touches_one_file_and_its_test():
    assert [name for name in FILES if not name.split("/")[-1].startswith("test_")] == [
        OWN,
        COMPRESSOR,
        TOPOLOGY,
        "threads.py",
    ]
    assert not any((PROJECT / name).exists() for name in FILES)


def test_names_words_and_choices_follow(clone):
    assert run(clone, "-c", SHOWN).splitlines() == [
        "BlockMax(block=7) LeftHand() True",
        "BlockMax() [0.5, 0.0, 0.5]",
    ]


def test_the_files_pass_their_tests_and_those_of_all_pieces(clone):
    pytest_ = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert "3 passed" in run(clone, *pytest_, *(name for name in FILES if "test_" in name))
    everywhere = ["tests/compression/test_compression_laws.py", "tests/topology/test_more_specification.py"]
    everywhere += ["tests/test_product.py", "tests/test_hostile_arguments.py", "tests/test_house_rules.py"]
    said = run(clone, *pytest_, *everywhere, "-k", "BlockMax or LeftHand or house")
    assert int(re.search(r"(\d+) passed", said)[1]) > 30
