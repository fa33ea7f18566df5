"""The ten configurations: what they are, and that comparing them is fair."""

import csv

import pytest

from dlmini import SGD
from dlmini.compression import None_, Threshold
from dlmini.configurations import averaged, compare, ten, write_csv
from dlmini.sim import Cluster, Simulated
from dlmini.topology import AllReduce, Gossip


@pytest.fixture(scope="module")
def rows(task):
    return compare(task, ten(32, SGD(0.1)), Simulated(4, Cluster(seconds={"gradient": 1e-3})))


def test_there_are_ten_and_they_are_the_published_ones():
    recipes = ten(64, SGD(0.1))
    assert [r.sync.steps for r in recipes.values()] == [1, 1, 1, 4, 4, 4, 16, 16, 16, 32]
    assert [type(r.topology) for r in recipes.values()] == [AllReduce, Gossip, Gossip] * 3 + [AllReduce]
    assert [type(r.compression) for r in recipes.values()] == [None_, None_, Threshold] * 3 + [None_]


def test_all_of_them_take_the_same_number_of_steps(rows):
    assert {round(row.compute, 3) for row in rows} == {0.032}


def test_fewer_rounds_and_fewer_bytes_communicate_less(rows):
    by_number = {row.number: row for row in rows}
    for number in (4, 7):
        assert by_number[number].megabytes == pytest.approx(by_number[1].megabytes / by_number[number].period, rel=1e-6)
    for dense, sparse in ((2, 3), (5, 6), (8, 9)):
        assert by_number[sparse].megabytes < 0.2 * by_number[dense].megabytes
    assert by_number[9].communication < by_number[7].communication < by_number[4].communication


def test_repeated_tables_are_averaged_with_their_spread(rows):
    assert averaged([rows, rows]) == [(row, 0.0) for row in rows]


def test_a_table_is_kept_as_csv(rows, tmp_path):
    write_csv(rows, tmp_path / "table.csv")
    with open(tmp_path / "table.csv", encoding="utf-8") as file:
        kept = list(csv.DictReader(file))
    assert [int(row["number"]) for row in kept] == list(range(1, 11))
    assert float(kept[4]["accuracy"]) == rows[4].accuracy
