"""Strategies as data: there and back, by text, and what is refused."""

import json

import pytest

from dlmini.federated import FedAdam, FedAvg, FedBuff, FedProx, Scaffold
from dlmini.federated.described import ROBUST, STRATEGIES, plain, strategy_in, strategy_of
from dlmini.federated.robust import Bucketing, Krum, Median, TrimmedMean

SOME = [
    FedAvg(),
    FedAvg(Krum(2)),
    FedProx(Bucketing(Median(1), s=3), mu=0.5),
    Scaffold(0.05, 6),
    FedAdam(0.1),
    FedBuff(3),
]


@pytest.mark.parametrize("strategy", SOME, ids=repr)
def test_a_strategy_is_what_its_description_says(strategy):
    assert strategy_of(json.loads(json.dumps(plain(strategy)))) == strategy


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_has_a_description(name):
    assert type(strategy_of(plain(STRATEGIES[name]()))) is STRATEGIES[name]


@pytest.mark.parametrize("name", ROBUST)
def test_every_rule_has_a_description(name):
    assert strategy_of(plain(FedAvg(ROBUST[name]()))).rule == ROBUST[name]()


def test_a_strategy_is_written_on_a_command_line_as_in_python():
    assert strategy_in("FedAvg") == strategy_in("FedAvg()") == FedAvg()
    assert strategy_in("FedProx(rule=TrimmedMean(f=2), mu=0.1)") == FedProx(TrimmedMean(2), mu=0.1)
    assert strategy_in("FedAvg(rule=Bucketing(rule=Krum(f=1)))") == FedAvg(Bucketing(Krum(1)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no strategy"),
        ("__import__('os')", "no strategy"),
        ("FedAvg(print)", "no strategy"),
        ("FedAvg(**{})", "no strategy"),
        ("SGD", "one of FedAvg"),
        ("Krum(f=1)", "one of FedAvg"),
        ("FedAvg(rule=FedAvg)", "one of Mean"),
        ("FedProx(nu=1)", "nothing else"),
        ("FedProx(mu=-1)", "mu"),
        ("(" * 500, "no strategy"),
    ],
)
def test_what_is_no_strategy_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        strategy_in(text)


DEEP = ["Bucketing", {"rule": ["Krum", {"f": 1}], "s": 2, "seed": 0, "t": 0}]


@pytest.mark.parametrize(
    "said",
    [
        *(
            None,
            7,
            "FedAvg",
            [],
            ["FedAvg"],
            ["FedAvg", []],
            ["FedAvg", {}],
            [["FedAvg"], {}],
            ["FedAvg", {"rule": "x"}],
        ),
        ["FedAvg", {"rule": ["Bucketing", {**DEEP[1], "rule": DEEP}]}],
    ],
    ids=range(10),
)
def test_descriptions_of_others_may_be_anything(said):
    with pytest.raises(ValueError, match=r"describe|one of"):
        strategy_of(said)


def test_code_does_not_travel():
    with pytest.raises(ValueError, match="as code"):
        plain(FedAvg(print))
