"""What the README and its longer half, docs/library.md, say is true: examples run, files exist; it is one screen."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
LIBRARY = README.parent / "docs" / "library.md"
SCREEN = 65  # lines


def examples(file):
    return re.findall(r"```python\n(.*?)```", file.read_text(encoding="utf-8"), re.S)


def run(number):
    exec(compile(examples(LIBRARY)[number], "library.md", "exec"), {})


def test_it_is_one_screen_and_its_example_is_one_that_is_tried_here():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= SCREEN
    assert examples(README)
    assert set(examples(README)) <= set(examples(LIBRARY))


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


@pytest.mark.parametrize("page", [README, *sorted(LIBRARY.parent.glob("*.md"))], ids=lambda page: page.stem)
def test_every_file_that_it_or_a_page_of_docs_links_to_exists(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert [link for link in links if not (page.parent / link.partition("#")[0]).exists()] == []
    assert links or page != README


def test_its_commands_are_the_ones_that_start_py_knows():
    text, start = README.read_text(encoding="utf-8"), (README.parent / "start.py").read_text(encoding="utf-8")
    for command in re.findall(r"^python3 start\.py(.*?)\s+#", text, re.M):
        assert f"python start.py{command}" in start
