"""What a volunteer gives, and what not: cores, memory, disk, hours of the day."""

from __future__ import annotations

import random
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from dlmini.checks import real, refuse, settle, whole


@dataclass(frozen=True)
class Limits:
    """cores: at most so many. ram, disk: GB that must stay free. hours: when it may work, such as 20-8."""

    cores: int = 1
    ram: float = 0.5
    disk: float = 0.5
    hours: str = ""

    def __post_init__(self):
        settle(self, cores=whole(self.cores, "cores", 1))
        settle(self, ram=real(self.ram, "ram", least=0), disk=real(self.disk, "disk", least=0))
        if not isinstance(self.hours, str) or (self.hours and not self.span()):
            refuse(ValueError, "hours", self.hours, "two hours of the day such as 20-8, or empty for always")

    def span(self) -> tuple[int, int] | None:
        found = re.fullmatch(r"(\d{1,2})-(\d{1,2})", self.hours)
        hours = found and tuple(map(int, found.groups()))
        return hours if hours and max(hours) <= 24 and hours[0] != hours[1] else None

    def why_not(self, hour: float, folder: Path) -> str:
        """A sentence if no work may be taken now; empty if it may."""
        if self.hours and not within(hour, *self.span()):
            return f"it is {int(hour)} o'clock, and work is welcome from {self.hours.replace('-', ' to ')} only"
        if (free := psutil.virtual_memory().available / 1e9) < self.ram:
            return f"{free:.1f} GB of memory are free, and {self.ram} must stay"
        if (free := shutil.disk_usage(folder).free / 1e9) < self.disk:
            return f"{free:.1f} GB of disk are free, and {self.disk} must stay"
        return ""

    def keep_to_cores(self) -> None:
        """Bind this process to its cores, where the system can do that. Any of them: several volunteers of one machine
        shall not all sit on the same."""
        with suppress(AttributeError, OSError, psutil.Error):
            me = psutil.Process()
            own = me.cpu_affinity()
            me.cpu_affinity(random.sample(own, min(self.cores, len(own))))


def within(hour: float, begin: int, end: int) -> bool:
    """20-8 goes over midnight."""
    return begin <= hour < end if begin < end else hour >= begin or hour < end
