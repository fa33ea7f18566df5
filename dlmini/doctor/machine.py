"""The machine itself: cores, memory, shared memory, disk, clock."""

from __future__ import annotations

import os
import shutil
import time
from itertools import pairwise
from pathlib import Path

import psutil

from dlmini.comm.processes.segment import SHM
from dlmini.comm.processes.wait_settings import cores as allowed_cores
from dlmini.doctor.finding import Finding, broken, good, warning

GB, MB = 1e9, 1e6
CGROUP = Path("/sys/fs/cgroup")
NO_LIMIT = 2**60  # what version 1 writes when there is none is near 2**63
YEAR = 2025  # no clock that is right shows less


def cores(present: int, allowed: int, quota: float | None) -> Finding:
    """Present in the machine; allowed to this process by affinity; and how many of them a container may keep busy."""
    usable = min(allowed, quota or allowed)
    found = f"{usable:g} of {present}" if usable < present else f"{present}"
    if usable < 2:
        return warning("cores", found, "Workers take turns on one core: lessons run, but nothing gets faster by them.")
    if quota is not None and quota < allowed:
        return warning("cores", f"{found} (quota of the container)", "Give the container more with --cpus.")
    return good("cores", found)


def memory(total: float, available: float, limit: float | None) -> Finding:
    """In bytes; `limit` is the container's, less what it uses."""
    left = min(available, limit) if limit is not None else available
    found = f"{left / GB:.1f} of {total / GB:.1f} GB free"
    if left < 0.5 * GB:
        return broken("memory", found, "Four workers and a notebook need 0.5 GB at least: close other programs.")
    if left < 1.5 * GB:
        return warning("memory", found, "Close other programs before class: 2 GB free is comfortable.")
    return good("memory", found)


def shared_memory(free: float | None) -> Finding:
    """Bytes free in /dev/shm; None where there is no such thing, and files or named pages serve instead."""
    if free is None:
        return good("shared memory", "by the system's own means")
    if free < 64 * MB:
        fix = "Workers fall back to small buffers or files; start the container with --shm-size=1g."
        return warning("shared memory", f"{free / MB:.0f} MB free in {SHM}", fix)
    return good("shared memory", f"{free / MB:,.0f} MB free in {SHM}")


def disk(where: str, free: float) -> Finding:
    """Bytes free where compiled kernels and runs are written."""
    found = f"{free / GB:.1f} GB free at {where}"
    if free < 0.05 * GB:
        return broken("disk", found, "Delete something: compiled kernels and notebooks cannot be saved.")
    return (
        warning("disk", found, "Make some room: runs and notebooks need it.")
        if free < 0.5 * GB
        else good("disk", found)
    )


def clock(resolution: float, year: int) -> Finding:
    """The smallest step of the clock that times everything, and what the calendar says."""
    found = f"steps of {resolution * 1e9:,.0f} ns"
    if year < YEAR:
        return warning("clock", f"{found}, but it is {year}", "Set the date: files that look older are not noticed.")
    if resolution > 1e-4:
        return warning("clock", found, "Times of single messages cannot be measured here; use Simulated.")
    return good("clock", found)


# ---- what is measured ----


def cpu_quota(root: Path = CGROUP) -> float | None:
    """Cores that this container may keep busy (cgroup 2, then 1); None without a limit."""
    try:
        if (root / "cpu.max").exists():
            most, period = (root / "cpu.max").read_text().split()
        else:
            most, period = ((root / f"cpu/cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
    except OSError:
        return None
    return None if most in ("max", "-1") else int(most) / int(period)


def memory_limit(root: Path = CGROUP) -> float | None:
    """Bytes that this container may still take; None without a limit."""
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            limit = (root / most).read_text().strip()
            return None if limit == "max" or int(limit) > NO_LIMIT else int(limit) - int((root / used).read_text())
        except OSError:
            continue
    return None


def tick() -> float:
    """The smallest step of perf_counter that can be seen."""
    stamps = [time.perf_counter() for _ in range(1000)]
    return min((b - a for a, b in pairwise(stamps) if b > a), default=1.0)


def visit(cache: Path) -> list[Finding]:
    """Measure and judge."""
    here, ram = next(folder for folder in (cache, *cache.parents) if folder.exists()), psutil.virtual_memory()
    return [
        cores(os.cpu_count() or 1, len(allowed_cores()), cpu_quota()),
        memory(ram.total, ram.available, memory_limit()),
        shared_memory(shutil.disk_usage(SHM).free if SHM.is_dir() else None),
        disk(str(here), shutil.disk_usage(here).free),
        clock(tick(), time.localtime().tm_year),
    ]
