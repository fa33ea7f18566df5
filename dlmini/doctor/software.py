"""What is installed: Python, packages, Jupyter's kernel, MPI, a browser for the tests."""

from __future__ import annotations

import json
import re
import shutil
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from dlmini.comm.mpi.mpiexec import missing, mpiexec, version
from dlmini.doctor.finding import Finding, broken, good, warning

REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[[^\]]*\])?[^;]*?(?:>=\s*(?P<least>[\d.]+))?")
LAB = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "matplotlib")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def python(found: tuple[int, ...], where: str) -> Finding:
    text = f"{'.'.join(map(str, found[:3]))} at {where}"
    if not (3, 11) <= found[:2] < (3, 14):
        return broken("Python", text, "Make the environment with Python 3.11 to 3.13.")
    return good("Python", text)


def packages(needed: dict[str, str], installed: dict[str, str | None]) -> Finding:
    """`needed`: the least version by name, empty if any will do."""
    absent = [name for name in needed if installed.get(name) is None]
    old = [
        f"{name} {installed[name]} < {least}" for name, least in needed.items() if too_old(installed.get(name), least)
    ]
    if absent or old:
        found = "; ".join([*(f"{name} is missing" for name in absent), *old])
        return broken("packages", found, "Install again: pip install --upgrade dlmini.")
    shown = ", ".join(f"{name} {installed[name]}" for name in ("numpy", "numba", "jupyterlab") if installed.get(name))
    return good("packages", f"{len(needed)} present: {shown}")


def too_old(installed: str | None, least: str) -> bool:
    return installed is not None and least != "" and numbers(installed) < numbers(least)


def numbers(text: str) -> tuple[int, ...]:
    """The numbers of a version, zeros at its end left out: 2.0 is 2."""
    found = [int(part) for part in re.match(r"[\d.]*", text)[0].split(".") if part]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def kernel(command: list[str] | None, this: str) -> Finding:
    """The command of Jupyter's kernel `python3`; None if there is no such kernel."""
    if command is None:
        fix = f"Run: {this} -m ipykernel install --sys-prefix."
        return broken("Jupyter kernel", "there is no python3 kernel", fix)
    if command[0] not in (this, "python", Path(this).name):
        found = f"plain `jupyter lab` starts {command[0]}"
        return warning("Jupyter kernel", found, "Use `dlmini lab`, whose python3 is this Python.")
    return good("Jupyter kernel", "python3 is this Python")


def mpi(lack: str, what: str) -> Finding:
    """MPI is for those who outgrow one machine; lessons do without."""
    return warning("MPI", "not here", f"Only Mpi(...) needs it. {lack}.") if lack else good("MPI", what)


def browser(path: str | None) -> Finding:
    if path is None:
        fix = "Only the browser test needs it, and is left out; on Debian: apt install chromium."
        return warning("Chromium", "not here", fix)
    return good("Chromium", path)


# ---- what is measured ----


def required() -> dict[str, str]:
    """What dlmini says it needs without extras, and what the lab needs."""
    lines = [line for line in metadata.requires("dlmini") or () if "extra ==" not in line]
    found = (REQUIREMENT.fullmatch(line.split(";")[0].strip()) for line in lines)
    return {match["name"]: match["least"] or "" for match in found if match} | dict.fromkeys(LAB, "")


def installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def kernel_command() -> list[str] | None:
    """What Jupyter would run for `python3`."""
    if find_spec("jupyter_client") is None:
        return None
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        return list(KernelSpecManager().get_kernel_spec("python3").argv)
    except (NoSuchKernel, OSError, json.JSONDecodeError):
        return None


def visit() -> list[Finding]:
    """Measure and judge."""
    needed, lack = required(), missing()
    said = "" if lack else next(iter(version(mpiexec()).splitlines()), "").strip()
    return [
        python(sys.version_info, sys.executable),
        packages(needed, {name: installed_version(name) for name in needed}),
        kernel(kernel_command(), sys.executable),
        mpi(lack, said),
        browser(next(filter(None, map(shutil.which, BROWSERS)), None)),
    ]
