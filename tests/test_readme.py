"""What the README says is true: its example runs, its files exist."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def run(number):
    code = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)[number]
    exec(compile(code, "README.md", "exec"), {})


def test_the_example_of_working_together_learns(capsys):
    run(1)
    *looks, last = capsys.readouterr().out.splitlines()
    assert [
        re.match(r"round \d+: [\d.]+% of the test images right after [\d.]+ s$", look) is None for look in looks
    ] == [False] * 4
    accuracy, megabytes = re.match(r"([\d.]+)% in the end, ([\d.]+) MB sent$", last).groups()
    assert float(accuracy) > 60
    assert float(megabytes) > 0


def test_the_example_learns(capsys):
    run(0)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert float(re.search(r"accuracy ([\d.]+)%", lines[-1])[1]) > 80


def test_every_file_it_links_to_exists():
    text = README.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert links
    assert [link for link in links if not (README.parent / link.partition("#")[0]).exists()] == []


def test_its_commands_are_the_ones_that_start_py_knows():
    text, start = README.read_text(encoding="utf-8"), (README.parent / "start.py").read_text(encoding="utf-8")
    for command in re.findall(r"^python3 start\.py(.*?)\s+#", text, re.M):
        assert f"python start.py{command}" in start
