"""Programs that ranks of MPI run in the tests; apart, so that a rank need not import the tests themselves."""

import os
import signal
import sys
import threading
import time
import weakref
from hashlib import blake2b

import numpy as np

from dlmini.comm import wire
from dlmini.comm.ghost import Ghost
from dlmini.comm.mpi.mpiexec import SESSION
from dlmini.comm.schedules import Hierarchical, doubling, halving_doubling, naive, native, ring, tree
from dlmini.events import Round

SCHEDULES = (ring, tree, doubling, halving_doubling, naive)
HALVES = (ring, halving_doubling)


def digest(message) -> str:
    """Equal for equal bits: short enough to send home instead of a million numbers."""
    frame = wire.pack(message)
    return blake2b(frame.header + frame.payload(), digest_size=12).hexdigest()


def vector(seed, rank, length):
    return np.random.default_rng([seed, rank, length]).random(length, np.float32) - np.float32(0.5)


def lengths(size):
    return sorted({0, 1, size - 1, size, 10**6})


def played_sums(comm, seed):
    """Every schedule's sums and halves, for every length: digests."""
    found = {}
    hows = [*SCHEDULES, *(Hierarchical(g) for g in (2, 4) if comm.size % g == 0)]
    for length in lengths(comm.size):
        x = vector(seed, comm.rank, length)
        for how in hows:
            found[length, repr(how)] = digest(comm.allreduce(x, how=how))
        for how in HALVES:
            found[length, repr(how), "half"] = digest(comm.reduce_scatter(x, how=how))
    return found


def native_sums(comm, seed):
    """How far the native sums are off, in eps of the sum of magnitudes: a truth in double precision."""
    worst = 0.0
    for length in lengths(comm.size):
        parts = np.array([vector(seed, rank, length) for rank in range(comm.size)], float).reshape(comm.size, length)
        truth, scale = parts.sum(0), np.abs(parts).sum(0) * np.finfo("f4").eps
        mine = slice(comm.rank * length // comm.size, (comm.rank + 1) * length // comm.size)
        x = vector(seed, comm.rank, length)
        for total, here in ((comm.allreduce(x), slice(None)), (comm.reduce_scatter(x), mine)):
            assert (total.shape, total.dtype) == (truth[here].shape, x.dtype)
            worst = max(worst, np.max(np.abs(total - truth[here]) / scale[here], initial=0.0))
    return float(worst)


def odd_sums(comm):
    """What MPI cannot add, or not as it lies in memory: all exact, so they must agree to the bit."""
    strided = np.arange(40.0)[::4] + comm.rank
    half, foreign = np.full(7, comm.rank + 0.5, "f2"), np.full(5, comm.rank, ">i4")
    table, whole = np.full((2, 3), comm.rank, "f8"), np.full(4, 3 * comm.rank, "u1")
    found = [comm.allreduce(x) for x in (strided, half, foreign, table, whole, np.ones(3, "c8"))]
    return [digest(x) for x in found], repr(comm.allreduce(Ghost(1000))), repr(comm.reduce_scatter(Ghost(1000)))


def messages(rng):
    """Something of every kind and size."""
    length = int(rng.choice([0, 1, 100, 5_000, 200_000]))
    kinds = [
        lambda: rng.standard_normal(length).astype("f4"),
        lambda: int(rng.integers(-(2**62), 2**62)),
        lambda: None,
        lambda: {"a": rng.integers(0, 9, (length // 10, 2)), 3: ("x", [1.5, True, rng.bytes(length)])},
        lambda: "z" * length,
        lambda: np.float64(rng.random()),
        lambda: Ghost((length, 1000)),
    ]
    return kinds[rng.integers(len(kinds))]()


def random_talk(comm, seeds, letters=60):
    """Random sends and receives. All ranks draw the same list of letters and walk it: who is its source sends, who is
    its destination receives, at once or later, from that rank or from anybody; sends never wait, so all comes to pass.
    """
    found = []
    for seed in seeds:
        rng = np.random.default_rng([seed, comm.size])
        late = []
        for number in range(letters):
            source, dest, tag, kind = (int(rng.integers(n)) for n in (comm.size, comm.size, 3, 4))
            message = messages(np.random.default_rng([seed, number]))
            if comm.rank == source:
                comm.send(dest, (number, message), tag=tag)
            if comm.rank == dest:
                late.append((source, tag))
                if kind == 0:
                    found += [digest(comm.recv(*where)) for where in late]
                    late = []
        found += [digest(comm.recv(*where)) for where in sorted(late)]
        comm.barrier()
    return found


def together(comm):
    """Collectives of messages, groups, polling, and receiving from anybody."""
    me, size = comm.rank, comm.size
    found = [comm.allgather(("rank", me, np.arange(me))), comm.allgather(np.full(3, me), how=ring)]
    found += [comm.bcast({"from": me, "x": np.arange(50_000)}, root=root)["from"] for root in range(size)]
    found.append(comm.gather("g" * me, root=size - 1))
    half = comm.group([r for r in range(size) if r % 2 == me % 2])
    found += [half.allgather(me), half.allreduce(np.array([1.0 * me])).tolist(), half.bcast(me, root=half.size - 1)]
    half.barrier()
    comm.send(0, me, tag=5)
    if me == 0:
        found.append(sorted(comm.recv_any(tag=5) for _ in range(size)))
        found.append(comm.poll(tag=5))
    return [digest(message) for message in found]


def aliasing(comm):
    """A message is the sender's again when send returns, however large; and the receiver may write into it."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    x = np.full(10**6, comm.rank, "f8")
    for tag in range(3):
        comm.send(right, x, tag=tag)
        x += 1000
    found = [comm.recv(left, tag=tag) for tag in range(3)]
    found[0][:] = 0
    return [float(y[-1]) for y in found[1:]] == [left + 1000, left + 2000]


def in_parts(comm, part):
    """As if MPI could count only up to `part`: bodies in several messages, long collectives by their schedules."""
    from dlmini.comm.mpi import native_collectives as native
    from dlmini.comm.mpi import parts

    parts.MOST = native.MOST = part
    x, right, left = np.arange(10**5), (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for k in range(3):
        comm.send(right, k * x)
    found = [comm.recv(left) for k in range(3)]
    found += [comm.bcast(3 * x if comm.rank == 1 else None, root=1), comm.allgather(4 * x)[left], comm.allreduce(x)]
    factors = (0, 1, 2, 3, 4, comm.size)
    return all(np.array_equal(y, k * x) for k, y in zip(factors, found, strict=True))


LONG_HEADER = np.dtype([(f"a field whose name is not short at all, number {i}", "u1") for i in range(300)])


def all_kinds(comm):
    """Arrays of every kind, order and size, to a receiver who waits already or who comes later: do all arrive?"""
    right, left, fine = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size, []
    for code in ("?", "i1", ">i4", "<u8", "f2", "f4", ">f8", "c8", "g", "S3", "M8[s]", "f4,>i2", LONG_HEADER):
        for length in (0, 1, 4_000, 20_000, 70_000, 400_000):
            dtype = np.dtype(code)
            count = length // dtype.itemsize if length > 1 else length
            whole = np.random.default_rng([length, count]).integers(0, 2, 2 * count * dtype.itemsize, np.uint8)
            x = whole.view(dtype)
            for y in (x, x[::2], x.reshape(2, -1).T, x[1:]):
                if comm.rank % 2:  # half of the ranks wait first, the others send first
                    found = comm.recv(left)
                comm.send(right, y)
                found = found if comm.rank % 2 else comm.recv(left)
                fine.append((found.shape, found.dtype, found.tobytes()) == (y.shape, y.dtype, y.tobytes()))
                fine.append(found.flags.writeable and found.flags.aligned)
    return len(fine), all(fine)


def handed_over(comm, count):
    """Large letters whose sender waits to be asked for them: how many were taken out of its own memory, and did they
    come as they were when `send` was called? The sender changes them as soon as it returns."""
    from dlmini.comm.mpi.messages import Mail

    direct, asked, real = [], Mail._waits, Mail._hand_over
    Mail._waits = lambda mail, dest: mail.until(lambda: asked(mail, dest))
    Mail._hand_over = lambda *args: direct.append(1) or real(*args)
    x, fine = np.zeros(2**19), True
    for k in range(count):
        if comm.rank == 0:
            x[:] = k
            comm.send(1, x)
            x[:] = -1
        else:
            fine &= bool((comm.recv(0) == k).all())
    Mail._waits, Mail._hand_over = asked, real
    return len(direct), fine


def kept(comm, count, nbytes):
    """Letters go to and fro, and no wait is long enough to look for what MPI has finished: how many of the payloads
    that came are still in memory when the program has forgotten them, and by how many letters has memory grown?"""
    from dlmini.comm.mpi import messages

    keen, messages.EAGER = messages.EAGER, float("inf")
    other, watched, x = 1 - comm.rank, [], np.ones(nbytes, np.uint8)
    for k in range(count):
        if k == count // 10:  # by now every buffer that is used again is there
            before = resident()
        if comm.rank == 0:
            comm.send(other, x)
        x = comm.recv(other)
        if comm.rank == 1:
            comm.send(other, x)
        watched.append(weakref.ref(x.base))
    del x
    messages.EAGER = keen
    return sum(ref() is not None for ref in watched), (resident() - before) / nbytes


def resident() -> int:
    """Bytes of memory that this process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def initial_environment(comm, names):
    """Which of these variables mpiexec has handed on to this process, and which it still has."""
    with open("/proc/self/environ", "rb") as file:
        handed = {one.split(b"=")[0].decode() for one in file.read().split(b"\0")}
    return [name in handed for name in names.split(",")], [name in os.environ for name in names.split(",")]


def everything(comm, seed):
    """All that must agree to the bit, in one start of mpiexec."""
    return {
        "played": played_sums(comm, seed),
        "talk": random_talk(comm, range(seed, seed + 8)),
        "together": together(comm),
        "odd": odd_sums(comm),
        "aliasing": aliasing(comm),
    }


def everything_and_native(comm, seed):
    return everything(comm, seed), native_sums(comm, seed)


def timed_sums(comm, rounds):
    """Seconds of each all-reduce of 8 MB, from when the last rank began to when the last one ended."""
    x, found = np.ones(2 * 10**6, np.float32), {"native": [], "ring": []}
    for how in [native, ring] * rounds:
        comm.barrier()
        begun = comm.now()
        comm.allreduce(x, how=how)
        begun, ended = zip(*comm.allgather((begun, comm.now())), strict=True)
        found["native" if how is native else "ring"].append(max(ended) - max(begun))
    return found


def whereabouts():
    """This process, and the directory in which MPI keeps what it must not leave behind."""
    return os.getpid(), os.environ.get(SESSION[0], "")


def observed(comm, rounds):
    """Events, clocks, threads, phases."""
    for t in range(rounds):
        comm.emit(Round(t, 0.5 * comm.rank, comm.size))
    gap = comm.now() - time.perf_counter()
    comm.compute("work", np.linalg.inv, np.eye(100))
    seen = comm.recv(comm.rank - 1) if comm.rank else 0.0
    here = comm.now()
    if comm.rank + 1 < comm.size:
        comm.send(comm.rank + 1, here)
    print(f"rank {comm.rank} was here")
    return gap, seen, here, os.environ["OMP_NUM_THREADS"], os.getcwd()


def one_fails(comm, how):
    """Rank 1 fails in some way while the others wait for it."""
    if comm.rank == 1:
        FAILURES[how]()
    comm.emit(Round(*whereabouts()))
    comm.recv(1)


FAILURES = {
    "raise": lambda: {}["a key that is not there"],
    "sys.exit": lambda: sys.exit(3),
    "exit": lambda: os._exit(4),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hang": lambda: threading.Event().wait(),
    "return": lambda: None,
}
