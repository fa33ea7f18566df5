"""From six bare PCs to a running job: what the page tells people to type is understood by those who will read it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from dlmini import __version__
from dlmini.cli import app
from dlmini.comm.mpi.host_file import read_hosts

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "real_classroom.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.M | re.S)


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash here")
def test_shell_lines_and_the_batch_script_are_whole():
    assert any("#SBATCH" in script for script in blocks("sh"))
    for script in blocks("sh"):
        checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr + script


def test_python_lines_are_whole():
    assert len(blocks("python")) == 3
    for code in blocks("python"):
        compile(code, "real_classroom.md", "exec")


def test_commands_and_their_options_are_those_that_there_are():
    """On this page, and on that of the study."""
    commands = typer.main.get_command(app).commands
    said = re.findall(r"dlmini ([a-z-]+)((?: [^\s`]+)*)", TEXT + (DOCS / "classroom_study.md").read_text("utf-8"))
    assert {name for name, _ in said} >= {"join", "doctor", "train", "classroom", "warm-up"}
    for name, words in said:
        if name in commands:
            known = {option for one in commands[name].params for option in one.opts}
            assert {word for word in words.split() if word.startswith("--")} <= known, f"dlmini {name}{words}"


def test_the_wheel_that_it_installs_is_this_version_s():
    """A wheel is what is given away: the bare name would ask an index, and might get a package of somebody else."""
    assert set(re.findall(r"dlmini-([\d.]+)-py3-none-any\.whl", TEXT)) == {__version__}
    assert not re.findall(r"pip (?:install|download) dlmini\b(?![-\[])", TEXT)


def test_its_host_file_is_read(tmp_path):
    (example,) = re.findall(r"^```\n(# hosts\.txt.*?)^```", TEXT, re.M | re.S)
    (tmp_path / "hosts.txt").write_text(example)
    assert read_hosts(tmp_path / "hosts.txt") == tuple(f"pc-{i}:1" for i in range(1, 7))
