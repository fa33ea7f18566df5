"""The words of the command line, and what they stand for."""

import pytest

from dlmini.comm.schedules import Hierarchical, halving_doubling, ring
from dlmini.command_words import read_compression, read_place, read_sync, read_topology, words
from dlmini.compression import DGC, QSGD, Deflate, Int8, OneBit, Threshold, TopK
from dlmini.sync import Asynchronous, BulkSynchronous, Downpour, LocalSGD, PartlySynchronous, StaleSynchronous
from dlmini.topology import AllReduce, Choco, Gossip, LowRank, ParameterServer, Star


@pytest.mark.parametrize(
    ("read", "text", "meant"),
    [
        (read_sync, "bsp", BulkSynchronous()),
        (read_sync, "local:16", LocalSGD(16)),
        (read_sync, "local:4,seed,post=10", LocalSGD(4, "seed", post=10)),
        (read_sync, "async", Asynchronous()),
        (read_sync, "ssp:bound=2", StaleSynchronous(2)),
        (read_topology, "allreduce", AllReduce()),
        (read_topology, "allreduce:ring", AllReduce(ring)),
        (read_topology, "server:3,quorum=2", ParameterServer(3, 2)),
        (read_topology, "gossip", Gossip()),
        (read_topology, "gossip:torus,what=weights", Gossip("torus", "weights")),
        (read_topology, "gossip:ring", Gossip("ring")),
        (read_topology, "allreduce:hierarchical(4)", AllReduce(Hierarchical(4))),
        (read_topology, "choco:topk(0.1),ring,gamma=0.3", Choco(TopK(0.1), "ring", gamma=0.3)),
        (read_topology, "server:2,back=qsgd(bits=4,bucket=64)", ParameterServer(2, back=QSGD(bits=4, bucket=64))),
        (read_topology, "star:int8", Star(back=Int8())),
        (read_topology, "star:back=deflate(int8)", Star(back=Deflate(Int8()))),
        (read_topology, "low-rank:4", LowRank(4)),
        (read_sync, "downpour:4,push=2", Downpour(4, 2)),
        (read_sync, "partly:8", PartlySynchronous(8)),
        (read_compression, "threshold:keep=0.05", Threshold(keep=0.05)),
        (read_compression, "topk:0.01", TopK(0.01)),
        (read_compression, "qsgd:bits=2", QSGD(bits=2)),
        (read_compression, "deflate:int8", Deflate(Int8())),
        (read_compression, "dgc:nesterov=true", DGC(nesterov=True)),
        (read_compression, "topk(0.02)", TopK(0.02)),
        (read_compression, "deflate(topk(0.02))", Deflate(TopK(0.02))),
        (read_compression, "deflate:one-bit", Deflate(OneBit())),
        (read_topology, "allreduce:ring()", AllReduce(ring)),
        (read_topology, "allreduce:halving-doubling", AllReduce(halving_doubling)),
    ],
)
def test_a_word_becomes_its_object(read, text, meant):
    assert read(text) == meant


@pytest.mark.parametrize(
    ("read", "text", "advice"),
    [
        (read_sync, "bps", "choose one of bsp, local, async, ssp"),
        (read_topology, "bus", "choose one of allreduce, server, star, gossip"),
        (read_topology, "gossip:cube", "choose one of ring, torus"),
        (read_compression, "zip", "choose one of none, half"),
        (read_compression, "topk:0", "above 0 and at most 1"),
        (read_sync, "local:0", "at least 1"),
        (read_sync, "local:period=3", "after local: come steps, variant, post"),
        (read_compression, "topk:", "something is missing beside a colon or comma"),
        (read_compression, "dgc:,,", "something is missing beside a colon or comma"),
        (read_compression, "deflate:topk(0.1,)", "something is missing beside a colon or comma"),
        (read_topology, "gossip:ring,", "something is missing beside a colon or comma"),
        (read_sync, "bsp:", "something is missing beside a colon or comma"),
        (read_compression, "deflate:topk(0.1", "its brackets do not match"),
        (read_compression, "deflate:topk 0.1)(", "its brackets do not match"),
        (read_topology, "gossip:ring)", "its brackets do not match"),
        (read_topology, "allreduce:hierarchical", "after hierarchical: come per_node"),
        (read_compression, "deflate:per_layer", "after per_layer: come inner, shapes, small"),
        (read_topology, "allreduce:hierarchical(x)", "schedule .*per_node is 'x'"),
        (read_topology, "allreduce:ring(4)", "nothing follows ring; write it alone"),
        (read_topology, "allreduce:Ring", "no schedule called 'Ring'; choose one of native, .*, hierarchical$"),
        (read_topology, "allreduce:back=gossip", "no compression called 'gossip'; choose one of none, "),
        (read_topology, "allreduce:foo(3)", "no schedule or compression called 'foo'"),
        (read_topology, "choco:foo(3)", "no compression called 'foo'"),
    ],
)
def test_a_wrong_word_gets_a_sentence(read, text, advice):
    with pytest.raises(ValueError, match=advice):
        read(text)


def test_commas_divide_outside_of_brackets_only():
    assert words("", "", "a,f(b,g(c),d),e") == ["a", "f(b,g(c),d)", "e"]


def test_an_empty_network_and_an_empty_host_file_are_not_ignored():
    with pytest.raises(ValueError, match="no network called ''; choose one of gigabit"):
        read_place("simulated", 2, "")
    with pytest.raises(ValueError, match="lacks the file that lists the hosts"):
        read_place("mpi:", 2, None)


def test_a_room_of_pcs_is_a_place_by_its_port():
    pytest.importorskip("zmq")
    from dlmini.comm.classroom import Classroom

    assert read_place("classroom:5555", 6, None) == Classroom(6, 5555)
    for wrong in ("classroom", "classroom:", "classroom:pc", "classroom:70000"):
        with pytest.raises(ValueError, match="say at which port PCs join, such as classroom:5555"):
            read_place(wrong, 6, None)
    with pytest.raises(ValueError, match="classroom uses the network that is there"):
        read_place("classroom:5555", 6, "wifi")


def test_a_host_file_is_a_place_of_mpi(tmp_path):
    from dlmini.comm.mpi import Mpi
    from dlmini.comm.mpi.mpiexec import missing

    if missing():
        pytest.skip("no MPI")
    (tmp_path / "hosts").write_text("pc-1 slots=2\npc-2\n")
    assert read_place(f"mpi:{tmp_path / 'hosts'}", 3, None) == Mpi(3, hosts=("pc-1:2", "pc-2"))
