"""All-reduce among six PCs of a room at 1 Gbit/s: `Classroom` against MPI on the same links (PERF-8).

The PCs are network namespaces on this machine (studies/hosts.py): root only. Both speak TCP; what a rank sees is
timed, from a barrier to its end. MPI may show the better of its own choice and the ring. Six ranks share this machine's
cores, which encrypting alone nearly fills; so what CURVE costs is told in processor time too.

python -m benchmarks.classroom FILE     on the first host; writes JSON
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from dlmini.studies.classroom.real import obstacle
from dlmini.studies.hosts import addresses, hosts

PCS, RATE = 6, "1gbit"
SIZES = {"64 KB": 2**14, "256 KB": 2**16, "1 MB": 2**18, "8 MB": 2**21}  # numbers of 4 bytes
REPS = {"64 KB": 20, "256 KB": 10, "1 MB": 4, "8 MB": 1}
TURNS, ROUNDS, FLOOR, AIM = 3, 4, 0.8, 1.0
AGENT = "PRTE_MCA_plm_ssh_agent"
CHOICE = "OMPI_MCA_coll_tuned_use_dynamic_rules"  # 0: Open MPI chooses its algorithm; 1: the ring (studies/hosts.py)


def sums(comm) -> dict[str, list[tuple[float, float]]]:
    """The program: by size, seconds and processor seconds of an all-reduce, several times. The first round warms up."""
    found = {label: [] for label in SIZES}
    for _ in range(1 + ROUNDS):
        for label, count in SIZES.items():
            x, reps = np.ones(count, np.float32), REPS[label]
            comm.allreduce(x)
            comm.barrier()
            began, used = time.perf_counter(), time.process_time()
            for _ in range(reps):
                comm.allreduce(x)
            found[label].append(((time.perf_counter() - began) / reps, (time.process_time() - used) / reps))
    return {label: times[1:] for label, times in found.items()}


def passed(count: int) -> float:
    """Bytes that all ranks together send in an all-reduce: 2 (N - 1) vectors."""
    return 2 * (PCS - 1) * 4 * count


def of_all(ranks) -> dict[str, list[tuple[float, float]]]:
    """In each round the slowest rank's seconds, and everybody's processor seconds."""
    return {
        label: [
            (max(spent for spent, _ in one), sum(used for _, used in one))
            for one in zip(*(rank[label] for rank in ranks), strict=True)
        ]
        for label in SIZES
    }


@contextmanager
def joined(room):
    """Every host joins, as by hand."""
    agent = os.environ[AGENT]
    line = shlex.join([sys.executable, "-m", "dlmini", "join", room.where, "--key", room.key])
    pcs = [
        subprocess.Popen([agent, host, line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for host in addresses(PCS)
    ]
    try:
        yield
    finally:
        room.close()
        for pc in pcs:
            pc.wait(20)


def turns(folder: Path) -> dict[str, list]:
    """Each contender in turn, again and again, on the first host."""
    from dlmini.comm.classroom import Classroom
    from dlmini.comm.launch import launch
    from dlmini.comm.mpi import Mpi

    room = Classroom(PCS, 5555, address=addresses(1)[0], key_file=folder / "room.key", patience=5, wait=120)
    clear = Classroom(PCS, 5555, encrypt=False, address=addresses(1)[0], patience=5, wait=120)
    mpi = Mpi(PCS, hosts=addresses(PCS), timeout=300)
    places = {"clear": clear, "encrypted": room, "MPI, ring": mpi, "MPI, own choice": mpi}
    found = {name: [] for name in places}
    room.open()
    with joined(room):
        for _ in range(TURNS):
            for name, place in places.items():
                os.environ[CHOICE] = "0" if "choice" in name else "1"
                found[name].append(of_all(launch(sums, place).values))
    return found


def measured() -> dict[str, list]:
    with TemporaryDirectory(prefix="dlmini-room-") as folder:
        file = Path(folder) / "found.json"
        with hosts(PCS, Path(folder), RATE, timeout=600) as on_first:
            on_first("-m", "benchmarks.classroom", file)
        return json.loads(file.read_text(encoding="utf-8"))


def median(found: list, label: str, which: int) -> float:
    return statistics.median(times[which] for turn in found for times in turn[label])


def rows() -> list[dict]:
    if why := obstacle():
        return [{"name": "Classroom(6) between namespaces", "ours": "", "peer": f"left out: {why}"}]
    return compared(measured())


def compared(found: dict[str, list]) -> list[dict]:
    table = []
    for label, count in SIZES.items():
        theirs, peer = min((median(found[name], label, 0), name) for name in found if "MPI" in name)
        for way in ("clear", "encrypted"):
            ours = median(found[way], label, 0)
            row = {"name": f"all-reduce of {label}, {PCS} PCs, {way}", "ratio": theirs / ours}
            row |= {
                "ours": f"{4 * count / ours / 1e6:.1f} MB/s",
                "peer": f"{4 * count / theirs / 1e6:.1f} MB/s ({peer})",
            }
            table.append(row | ({"floor": FLOOR, "aim": AIM} if way == "clear" else {}))
    cpu = {way: median(found[way], "8 MB", 1) / passed(SIZES["8 MB"]) * 1e9 for way in found}
    shown = ", ".join(f"{way} {seconds:.2f}" for way, seconds in cpu.items())
    costs = f"{cpu['encrypted'] - cpu['clear']:.2f} s"
    return [*table, {"name": f"CURVE, processor seconds per GB ({shown})", "ours": costs, "peer": ""}]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.write_text(json.dumps(turns(place.parent)), encoding="utf-8")
