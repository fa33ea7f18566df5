"""Shared memory: named after its owner, swept when that is gone, made to fit; and the ring buffers in it."""

import errno
import os
import subprocess
import sys
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.comm import wire
from dlmini.comm.processes import Processes
from dlmini.comm.processes import segment as shared
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.kernels import messages as compiled
from dlmini.comm.processes.messages.ring_buffer import Ends, Incoming, Outgoing
from dlmini.comm.processes.plain import messages as twins
from dlmini.comm.processes.shared_area import SharedArea, nbytes
from dlmini.comm.processes.sums import LARGE, ResultBuffers
from dlmini.comm.processes.wait_settings import wait_settings
from dlmini.comm.processes.workers.edited_sources import edited, stamp

files = pytest.mark.skipif(sys.platform == "win32", reason="segments have no files on Windows")


def segments() -> list[Path]:
    return list(shared.leftovers())


@files
def test_a_segment_lives_on_without_its_name():
    mine, scale = shared.create(lambda scale: 4096 * scale)
    theirs = shared.attach(mine.name, 4096 * scale)
    mine.unlink()
    mine.memory[7:9] = b"hi"
    assert theirs.memory[7:9] == b"hi"
    assert not Path(mine.name).exists()


@files
def test_segments_of_the_dead_are_swept_and_those_of_the_living_kept():
    alive, _ = shared.create(lambda scale: 4096)
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    folder = shared.folders()[0]
    dead = folder / f"dlmini-{child.pid}-{shared.started(child.pid)}-0"
    dead.touch()
    reborn = folder / f"dlmini-{os.getpid()}-{shared.started(os.getpid()) + 1}-0"  # the pid lives, but was born later
    reborn.touch()
    try:
        assert shared.sweep() == [str(reborn)]
        child.communicate()
        assert shared.sweep() == [str(dead)]
        assert Path(alive.name).exists()
    finally:
        alive.unlink()
        for path in (dead, reborn):
            path.unlink(missing_ok=True)


@files
def test_a_segment_whose_owner_lives_in_another_container_is_left_alone():
    """Its pid says nothing here, but its lock does."""
    import fcntl

    path = shared.folders()[0] / "dlmini-999999999-1-0"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert shared.sweep() == []
    assert shared.sweep() == [str(path)]


@files
def test_files_that_only_look_like_segments_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(shared, "folders", lambda: [tmp_path])
    (tmp_path / "dlmini-notes-of-mine").touch()
    assert shared.sweep() == []


def room(small: Path, nbytes: int):
    """A statvfs after which a folder has so little left."""
    real = os.statvfs
    return lambda path: SimpleNamespace(f_bavail=nbytes, f_frsize=1) if Path(path) == small else real(path)


@files
def test_where_memory_is_small_buffers_are_smaller_and_then_lie_elsewhere(tmp_path, monkeypatch):
    small, large = tmp_path / "small", tmp_path / "large"
    small.mkdir()
    large.mkdir()
    monkeypatch.setattr(shared, "folders", lambda: [small, large])
    for left, place, expected in ((2**20, small, 16), (2**18, small, 4), (2**16, small, 1), (100, large, 16)):
        monkeypatch.setattr(shared.os, "statvfs", room(small, left))
        segment, scale = shared.create(lambda scale: 2**16 * scale)
        assert (Path(segment.name).parent, scale) == (place, expected)
        segment.unlink()


@files
def test_a_mount_that_fills_up_is_noticed_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(shared, "folders", lambda: [tmp_path])

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shared, "fill", full)
    with pytest.raises(MemoryError, match=r"0.1 MB of shared memory.*--shm-size"):
        shared.create(lambda scale: 2**16 * scale)
    assert not list(tmp_path.iterdir())


@files
@pytest.mark.parametrize("scale", [1, 4])
def test_ranks_work_in_little_memory(scale, monkeypatch):
    full = shared.create
    monkeypatch.setattr(
        "dlmini.comm.processes.workers.pool.create", lambda nbytes: (full(lambda _: nbytes(scale))[0], scale)
    )
    from dlmini.comm.processes.workers.pool import Pool

    monkeypatch.setattr("dlmini.comm.processes.borrow", Pool)
    monkeypatch.setattr("dlmini.comm.processes.give_back", Pool.end)

    def program(comm):
        x = np.arange(300_000.0, dtype=np.float32)
        comm.send(1 - comm.rank, x)
        same = np.array_equal(comm.recv(1 - comm.rank), x), np.array_equal(comm.allreduce(x), 2 * x)
        return *same, np.array_equal(comm.bcast(x), x), len(comm.reduce_scatter(x))

    assert Processes(2).run(program).values == [(True, True, True, 150_000)] * 2


@files
def test_after_a_start_no_name_is_left():
    Processes(2).run(lambda comm: None)
    assert not [path for path in segments() if f"-{os.getpid()}-" in path.name]


@pytest.mark.parametrize("size", [1, 2, 3, 8, 64])
@pytest.mark.parametrize("scale", [1, 16])
def test_nothing_in_the_shared_area_overlaps(size, scale):
    memory = bytearray(nbytes(size, scale))
    ground = SharedArea(memory, size, scale)
    words = dict(layout.ring_words(size))
    ends = [first + layout.LINE * (1 + len(layout.readers(*pair, size))) for pair, first in words.items()]
    assert list(words.values()) == [layout.rank_words(size), *ends[:-1]]
    assert ends[-1] == layout.port_word(size, 0)
    assert layout.port_word(size, layout.ports(size) - 1) == layout.length(size) - 1
    assert 8 * layout.length(size) <= ground.rings == ground.ring_of(0, 0)
    assert ground.ring_of(size - 1, size - 1) + ground.ring <= ground.slots
    assert ground.slots + 2 * (size + 1) * ground.block <= ground.slabs
    assert ground.slabs + size * ground.cells * layout.CELL <= len(memory) - ground.control.nbytes
    assert ground.ring % 8 == ground.rings % 8 == ground.slabs % layout.LINE == 0


WAYS = {"numba": (compiled, compiled), "numpy": (twins, twins), "mixed": (compiled, twins), "turned": (twins, compiled)}


def ring(way, capacity: int, cells: int, readers: int) -> tuple[Outgoing, list[Incoming]]:
    """The ring from rank 0 to all, in one process: its writer, and its readers."""
    size = readers + 1
    ground = SharedArea(bytearray(nbytes(size, 1)), size, 1)
    ground.ring, ground.cells = capacity, min(cells, ground.cells)

    def ends(rank, kernels):
        return Ends(ground, wait_settings(rank, ground, 1, 8), kernels)

    writes, reads = WAYS[way]
    out = Outgoing(ground, 0, 0, ends(0, writes))
    return out, [Incoming(ground, 0, 0, rank, ends(rank, reads)) for rank in range(1, size)]


@pytest.mark.parametrize("way", WAYS)
@examples(60)
@given(
    st.lists(st.integers(0, 700) | st.integers(layout.INLINE - 2, 4 * layout.CELL), max_size=12),
    st.integers(16, 400),
    st.integers(0, 3),
    st.integers(1, 3),
    st.lists(st.integers(-1, 2), max_size=60),
)
def test_letters_of_any_length_come_out_of_a_ring_as_they_went_in(way, lengths, words, cells, readers, order):
    """Whoever reads when, however small the buffer is and however few the cells: nothing is lost or overtaken."""
    out, boxes = ring(way, 8 * words, cells, readers)
    letters, waiting = [], deque(lengths)
    got = [[] for _ in boxes]

    def send():
        payload = np.random.default_rng(len(letters)).integers(0, 256, waiting.popleft(), np.uint8)
        envelope = wire.Envelope(len(letters) - 2**70 * (len(letters) % 3 - 1), 0.5, 3, len(payload), 0.25, 0.75)
        letters.append((envelope, b"hdr", payload.tobytes()))
        out.push(envelope, [np.frombuffer(b"hdr", np.uint8), payload])

    def read(i):
        got[i] += [(envelope, header, bytes(payload)) for envelope, header, payload in boxes[i].letters()]

    for who in order:
        if who >= 0:
            read(who % readers)
        elif waiting:
            send()
        out.flush()
    while waiting:
        send()
    while out.left or any(len(one) < len(letters) for one in got):
        for i in range(readers):
            read(i)
        out.flush()
    assert got == [letters] * readers


def test_a_file_counts_as_edited_when_it_changed_or_is_gone(tmp_path):
    one, two, three = (tmp_path / name for name in ("one.py", "two.py", "three.py"))
    for path in (one, two, three):
        path.write_text("x = 1\n")
    known = {str(path): stamp(str(path)) for path in (one, two, three)}
    assert edited(known) == []
    two.write_text("x = 22\n")
    three.unlink()
    assert edited(known) == [str(two), str(three)]


def test_a_large_result_is_used_again_only_when_nobody_holds_it():
    buffers, size = ResultBuffers(), LARGE // 4 + 1

    def where(array):
        return array.__array_interface__["data"][0]

    one, two = buffers.empty(size, np.dtype("f4")), buffers.empty(size, np.dtype("f4"))
    places, view = [where(one), where(two)], one[5:9].reshape(2, 2)
    del one, two
    again = where(buffers.empty(size, np.dtype("f4")))
    del view
    at_last = where(buffers.empty(size, np.dtype("f4")))
    other = where(buffers.empty(size, np.dtype("i4")))
    assert again == places[1] != places[0]
    assert at_last == places[0]
    assert other not in places
    assert buffers.empty(3, np.dtype("f8")).shape == (3,)
