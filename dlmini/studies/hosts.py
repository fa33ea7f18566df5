"""Hosts on one machine: network namespaces joined by a switch (a bridge), each link limited in both directions.

Needs root and iproute2. Everything lives in namespaces of its own: the machine's interfaces are not touched. Each host
has a name of its own too (unshare --uts): Open MPI takes hosts of equal names for one and hangs.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NET = "10.77.0."


def run(*words, check: bool = True) -> str:
    return subprocess.run(words, check=check, capture_output=True, text=True, timeout=60).stdout


def unavailable() -> str:
    """Why there can be no hosts here; empty if there can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "network namespaces need root"
    if lacking := [tool for tool in ("ip", "tc", "unshare") if shutil.which(tool) is None]:
        return f"network namespaces need {', '.join(lacking)}: install iproute2 and util-linux"
    name = f"dlm{os.getpid()}-try"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"this machine allows no network namespaces: {tried.stderr.strip()}"
    run("ip", "netns", "del", name)
    return ""


def addresses(count: int) -> list[str]:
    """Of the hosts, the first one first."""
    return [f"{NET}{i}" for i in range(1, count + 1)]


@contextmanager
def hosts(count: int, folder: Path, rate: str, burst: str = "256kb", timeout: float = 200) -> Iterator[Callable]:
    """`count` hosts on links of this rate; yields on_first(*words), which runs Python with these words on the first."""
    names, switch = [f"dlm{os.getpid()}-h{i}" for i in range(1, count + 1)], f"dlm{os.getpid()}-sw"
    agent = folder / "agent"
    agent.write_text(AGENT.format(prefix=names[0][:-1]))
    agent.chmod(0o755)

    def on_first(*words) -> None:
        line = shlex.join([sys.executable, *map(str, words)])
        env = os.environ | OPEN_MPI | {"PRTE_MCA_plm_ssh_agent": str(agent)}
        done = subprocess.run([agent, f"{NET}1", line], env=env, capture_output=True, text=True, timeout=timeout)
        if done.returncode:
            raise RuntimeError(f"the first host failed: {done.stderr.strip()[-2000:]}")

    try:
        run("ip", "netns", "add", switch)
        run("ip", "-n", switch, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", switch, "link", "set", "br0", "up")
        for i, name in enumerate(names, 1):
            plug_in(name, i, switch)
            limit(name, "eth0", rate, burst)  # what the host sends
            limit(switch, f"p{i}", rate, burst)  # what it receives: many senders queue here
        yield on_first
    finally:
        for name in [*names, switch]:
            remove(name)


def plug_in(name: str, i: int, switch: str) -> None:
    run("ip", "netns", "add", name)
    run("ip", "-n", name, "link", "set", "lo", "up")
    run("ip", "-n", switch, "link", "add", f"p{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "-n", switch, "link", "set", f"p{i}", "master", "br0", "up")
    run("ip", "-n", name, "addr", "add", f"{NET}{i}/24", "dev", "eth0")
    run("ip", "-n", name, "link", "set", "eth0", "up")


def limit(name: str, device: str, rate: str, burst: str) -> None:
    bucket = ["tbf", "rate", rate, "burst", burst, "latency", "50ms"]
    run("ip", "netns", "exec", name, "tc", "qdisc", "replace", "dev", device, "root", *bucket)


def remove(name: str) -> None:
    """The host, and what still runs on it."""
    for pid in run("ip", "netns", "pids", name, check=False).split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    run("ip", "netns", "del", name, check=False)


# Ranks of different hosts on one machine must not find each other's memory, and speak by TCP; with two connections,
# since a pair that sends both ways over one takes twice as long; and give way, as all share this machine's few cores.
# Its own choice of algorithm is slower than the ring.
OPEN_MPI = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,self",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_btl_tcp_links": "2",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
    "OMPI_MCA_coll_tuned_allreduce_algorithm": "4",
    "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
}

AGENT = """#!/bin/sh
# agent [options] ADDRESS COMMAND...    runs it on the host with this address, as ssh would
while [ "${{1#-}}" != "$1" ]; do shift; done
i=${{1##*.}}; shift
exec ip netns exec {prefix}$i unshare --uts sh -c "hostname {prefix}$i; $*"
"""
