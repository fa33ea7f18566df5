"""What browser tests share: one lab with the course in it, as a student has it, and a place for pictures."""

import os
import shutil
from pathlib import Path

import pytest
from lab import server, write_notebook

PROJECT = Path(__file__).parents[2]
TASK = """
from dlmini import Classify, lenet, load
from dlmini.show import dashboard
train, test = load("fashion-mnist")
task = Classify(lenet(input=train.shape, classes=10), train, test, batch=16)
"""
SHOW = "board = dashboard(task, workers=3, steps=100_000, looks=10_000); board"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """(folder, address, token): notebooks and exercises, and `live.ipynb` with nothing but a dashboard."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("notebooks", "exercises"):
        shutil.copytree(PROJECT / name, folder / name)
    write_notebook(folder / "live.ipynb", TASK, SHOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLMINI_PROFILE", "fast")
        with server(folder) as (url, token):
            yield folder, url, token


@pytest.fixture
def shots(tmp_path):
    """Where pictures go: DLMINI_SHOTS keeps them."""
    folder = Path(os.environ.get("DLMINI_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
