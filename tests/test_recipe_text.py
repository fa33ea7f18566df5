"""Whatever a recipe is made of, it is read back from its text as it was; what cannot be is refused at once."""

from itertools import product

import numpy as np
import pytest
from test_product import COMPRESSORS, SYNCS, TOPOLOGIES

from dlmini import (
    DGC,
    SGD,
    AllReduce,
    Choco,
    Deflate,
    Gossip,
    Hierarchical,
    Int8,
    LocalSGD,
    LowRank,
    Momentum,
    Own,
    ParameterServer,
    PerLayer,
    PushSum,
    Recipe,
    Sandblaster,
    Threshold,
    TopK,
    constant,
    cosine,
    doubling,
    halving_doubling,
    naive,
    native,
    ring,
    staircase,
    tree,
    warm_up,
)
from dlmini import command_words as words
from dlmini.compression import None_
from dlmini.recipe_text import Unwritten, describe, pieces, read, write

K = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
SCHEDULES = [native, ring, tree, doubling, halving_doubling, naive, Hierarchical(2)]
MIXED = [Gossip(Own(K)), Gossip(K.tolist(), "weights"), PushSum(Own(np.eye(3))), Choco(Int8(), Own(K), 0.3)]
EVERY_TOPOLOGY = [*TOPOLOGIES, *MIXED, *(AllReduce(how) for how in SCHEDULES), *(LowRank(1, how) for how in SCHEDULES)]
RATES = [0.1, 1, constant(0.1), staircase(0.1, 3), cosine(0.1, 10), warm_up(0.1, 3), warm_up(cosine(0.1, 10), 3)]
OPTIMIZERS = [make(rate) for make, rate in product(words.OPTIMIZERS.values(), RATES)]
WHOLE = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.intc, np.longlong]
REAL = [np.float16, np.float32, np.float64, np.longdouble]


def same(recipe) -> bool:
    """Equal, and of equal types down to each number."""
    again = read(write(recipe))
    return again == recipe and write(again) == write(recipe)


@pytest.mark.parametrize("sync", SYNCS, ids=repr)
def test_every_combination_of_methods_is_read_back(sync):
    for i, (topology, compression) in enumerate(product(EVERY_TOPOLOGY, COMPRESSORS)):
        recipe = Recipe(sync, topology, compression, OPTIMIZERS[i % len(OPTIMIZERS)])
        assert same(recipe), recipe


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=repr)
def test_every_optimiser_and_schedule_is_read_back_in_either_place(optimizer):
    for outer in OPTIMIZERS:
        assert same(Recipe(LocalSGD(2), optimizer=optimizer, outer=outer, feedback=True))


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_numbers_of_numpy_keep_their_value_and_their_type(kind):
    one = kind(1)
    for rate in (one, constant(one), staircase(one, one, one), warm_up(one, one), cosine(one, one)):
        assert same(Recipe(optimizer=SGD(rate, weight_decay=one)))
    assert same(
        Recipe(
            rounds=one,
            evaluate_every=one,
            checkpoint_every=one,
            seed=one,
            all_workers=np.bool_(True),
            feedback=np.bool_(False),
        )
    )
    assert same(Recipe(LocalSGD(one), compression=Deflate(Int8(one), one)))
    assert same(Recipe(topology=AllReduce(Hierarchical(one)), compression=PerLayer(Int8(), ((one, 2),), one)))


@pytest.mark.parametrize("kind", REAL)
def test_real_numbers_of_numpy_keep_their_value_and_their_type(kind):
    tenth = kind(0.1)
    for rate in (tenth, constant(tenth), staircase(tenth, 3, tenth), warm_up(tenth, 2), cosine(tenth, 5, tenth)):
        assert same(Recipe(optimizer=Momentum(rate, tenth, tenth)))
    for piece in (TopK(tenth), Threshold(tenth), DGC(keep=tenth, warm_up=(tenth, 0.5)), PerLayer(TopK(tenth))):
        assert same(Recipe(compression=piece))
    assert same(Recipe(topology=Choco(TopK(tenth), gamma=tenth)))


def test_the_product_leaves_out_no_public_piece():
    seen = {type(part) for part in (*SYNCS, *EVERY_TOPOLOGY, *COMPRESSORS, *OPTIMIZERS, *RATES, *SCHEDULES)}
    assert {it for it in pieces().values() if isinstance(it, type)} - seen == {Recipe, Sandblaster, Own}
    assert {it for it in pieces().values() if not isinstance(it, type)} == set(SCHEDULES[:-1])


def test_every_word_of_the_command_line_makes_what_can_be_written():
    needs = {"choco": ":topk(0.1)", "deflate": ":int8", "per_layer": ":int8", "threshold": ":keep=0.1"}
    said = [words.read_sync(name) for name in words.SYNC]
    said += [words.read_compression(name + needs.get(name, "")) for name in words.COMPRESS]
    said += [words.read_topology(name + needs.get(name, "")) for name in words.TOPOLOGY]
    schedules = {name: "hierarchical(2)" if name == "hierarchical" else name for name in words.SCHEDULES}
    said += [
        words.read_topology(f"{kind}{name}") for kind in ("allreduce:", "low-rank:1,") for name in schedules.values()
    ]
    assert all(same(piece) for piece in [*said, *(make(0.1) for make in words.OPTIMIZERS.values())])


def test_text_is_the_same_for_a_matrix_with_odd_numbers_in_it():
    rng = np.random.default_rng(0)
    circle = np.eye(5) * 0.5 + 0.5 * np.eye(5)[rng.permutation(5)]
    odd = circle + 0.0 * -circle
    assert same(Own(odd))
    assert read(write(Own(odd))).K.tobytes() == odd.tobytes()
    assert [read(write(x)) for x in (np.inf, -np.inf, -0.0, 5e-324)] == [np.inf, -np.inf, 0.0, 5e-324]


class Mine(SGD):
    """A student's own optimiser."""


FOREIGN = {
    "a rate": Recipe(optimizer=SGD(lambda t: 0.1)),
    "a rate in a schedule": Recipe(optimizer=SGD(warm_up(lambda t: 0.1, 3))),
    "an optimiser": Recipe(optimizer=Mine(0.1)),
    "a matrix": Recipe(topology=Gossip(Own(lambda size, t: np.eye(size)))),
    "a compressor": Recipe(topology=ParameterServer(back=type("Own", (None_,), {})())),
    "a compressor in another": Recipe(compression=Deflate(type("Own", (None_,), {})())),
}


@pytest.mark.parametrize("recipe", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_piece_of_the_house_is_refused_or_described(recipe):
    with pytest.raises(ValueError, match="cannot be written down, for files hold no code"):
        write(recipe)
    again = read(describe(recipe))
    assert "Unwritten(" in describe(recipe)
    assert "0x" not in describe(recipe) or isinstance(again, Unwritten)


def test_what_was_not_written_says_so_when_it_is_used():
    again = read(describe(FOREIGN["a rate"]))
    assert "<lambda>" in repr(again)
    with pytest.raises(ValueError, match=r"<lambda> was not written .* make it anew"):
        again.optimizer.rate_at(0)
    with pytest.raises(ValueError, match="cannot be written down"):
        write(again)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "fetch('cifar10')",
        "Recipe(",
        "",
        "Recipe(sync=open('x'))",
        "lenet()",
        "Classify(1, 2, 3)",
        "Recipe.__init__",
        "ring()",
        "SGD(**{'rate': 1})",
        "SGD(*[1])",
        "ParameterServer(back=3)",
        "float32('x')",
        "Own([[1, 2], [3, 4]])",
        "-SGD(1)",
        "(" * 5000,
        "[" + "-" * 100_000 + "1]",
        "Deflate(" * 3000 + "Int8()" + ")" * 3000,
        "1" * 10_000,
        "\0",
    ],
    ids=lambda text: text[:20],
)
def test_no_other_text_is_read(text):
    with pytest.raises(ValueError, match=r"no description") as error:
        read(text)
    assert len(str(error.value)) < 3000
