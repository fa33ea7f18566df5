"""A room over a real network: hosts that are network namespaces, joined by a switch; a cable is pulled."""

import json
import os
import re
from pathlib import Path

import pytest
from examples import LONG
from hosts import hosts, unavailable

TIMES = 10 if LONG else 1


@pytest.mark.slow
def test_a_pc_whose_cable_is_pulled_is_named_and_finds_back_by_itself(tmp_path):
    """How soon is printed: it should be within a second, where the cores are free."""
    if why := unavailable():
        pytest.skip(why)
    file, script = tmp_path / "found.json", Path(__file__).with_name("room_on_hosts.py")
    with hosts(3, tmp_path, "1gbit", timeout=300) as on_first:
        on_first(script, f"dlm{os.getpid()}-sw", TIMES, file)
    for once in json.loads(file.read_text("utf-8")):
        print(f"{once['seconds']:.2f} s: {once['said']}")
        assert re.search(r"rank \d \(pc-3\) was lost", once["said"])
        assert sorted(once["there"]) == ["pc-1", "pc-2"]
        assert once["again"] == [3, 3, 3]
