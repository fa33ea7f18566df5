"""The book: every lesson, every formula, no request to anywhere; and what a cell leaves stands on its page."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dlmini
from dlmini.course import lessons
from dlmini.course.book import api as names
from dlmini.course.book import bind as binding
from dlmini.course.book import cells, exercises, formulas, runs
from dlmini.course.book.bind import bind
from dlmini.course.book.signatures import called
from dlmini.course.strip import strip, stubs

for needed in binding.NEEDED:
    pytest.importorskip(needed, reason=f'the book needs {needed}: pip install -e ".[book]"')

PROJECT = Path(__file__).parents[2]
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
TEX = re.compile(r"\$\$.+?\$\$|\$[^$\n]+?\$", re.S)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Seen(HTMLParser):
    """What a browser would find on a page: places, links, what it fetches, and the words between tags."""

    def __init__(self, file: Path):
        super().__init__()
        self.places, self.links, self.fetched, self.words, self.inside = [], [], [], [], []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        self.fetched += [given[FETCHED[tag]]] if given.get(FETCHED.get(tag)) else []
        if tag in ("pre", "code", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.words.append(data)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The real course, without running it."""
    folder = tmp_path_factory.mktemp("book")
    assert bind(PROJECT, folder, run=False, one_file=True, tell=lambda said: None) == []
    return folder


@pytest.fixture(scope="module")
def seen(book):
    return {file.name: Seen(file) for file in sorted(book.glob("*.html"))}


def test_every_lesson_has_a_page_beside_index_glossary_and_lecturers(seen):
    names = {f"{it.name}.html" for it in lessons.written(PROJECT / "course")}
    assert set(seen) == names | {"index.html", "glossary.html", "api.html", "lecturers.html", "book.html"}
    assert names <= set(seen["index.html"].links)


def test_nothing_is_fetched_from_anywhere(book, seen):
    for name, page in seen.items():
        assert all(address.startswith("data:") for address in page.fetched), name
        text = (book / name).read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(|<script|<link\b", text), name


def test_every_link_within_the_book_leads_to_a_place(seen):
    for name, page in seen.items():
        for link in page.links:
            if link.startswith(("http://", "https://", "mailto:")):
                continue
            file, _, place = link.partition("#")
            assert (file or name) in seen, f"{name}: {link}"
            assert not place or place in seen[file or name].places, f"{name}: {link}"


def test_the_single_file_holds_everything_and_no_place_twice(seen):
    whole = seen["book.html"]
    assert len(whole.places) == len(set(whole.places))
    assert all(link.startswith(("#", "http")) for link in whole.links)
    assert {place for page in seen.values() for place in page.places} == set(whole.places)


def test_every_formula_of_the_course_is_drawn(book, seen):
    """Counted in the sources by another rule than the book's own."""
    for it in lessons.written(PROJECT / "course"):
        text = (PROJECT / "course" / f"{it.name}.md").read_text(encoding="utf-8")
        text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
        page = (book / f"{it.name}.html").read_text(encoding="utf-8")
        assert len(re.findall(r'class="math (?:inline|block)"', page)) >= len(TEX.findall(text)), it.name
        assert "$" not in "".join(seen[f"{it.name}.html"].words), it.name


def test_every_exercise_stands_in_its_lesson_without_its_solution(book):
    for file in sorted((PROJECT / "solutions").glob("*.py")):
        page = book / f"{file.stem}.html"
        if page.exists():  # a solution may be here before its lesson
            text = page.read_text(encoding="utf-8")
            names = stubs(strip(file.read_bytes(), file.name).decode())
            assert all(f"<h3><code>{name}</code></h3>" in text for name in names), file.name
            assert "SOLUTION" not in text


def test_every_public_name_has_its_docstring_on_the_page_of_names(book, seen):
    assert {f"api-{name}" for name in dlmini.__all__} <= set(seen["api.html"].places)
    text = (book / "api.html").read_text(encoding="utf-8")
    assert "Send the largest." in text
    assert "|Q(u) - u|^2 &lt;= (1 - k/d) |u|^2</pre>" in text


def test_code_in_the_first_words_of_an_exercise_is_code():
    stub = '"""Exercise 17: `dlmini leaderboard` races it."""\n'
    assert "<p>Exercise 17: <code>dlmini leaderboard</code> races it. Write in" in exercises.appendix(
        stub, "17_capstone"
    )


def test_a_public_table_says_what_it_holds_and_not_what_a_dict_is():
    assert "A table of 7: softmax_regression, mlp, lenet" in names.entry("ZOO")
    assert "dict(" not in names.entry("VAIHINGEN")


def test_each_thing_that_the_lecturers_guide_says_of_a_lesson_is_an_item():
    guide = (Path(__file__).parents[2] / "course" / "LECTURERS.md").read_text(encoding="utf-8").partition("### 00")[2]
    assert re.findall(r"(?m)^\*\*(?:Click|Ask|What surprises|How long|If asked|Exercises|Fallback).{20}", guide) == []


def test_nobody_s_own_check_results_are_in_the_book(small, tmp_path):
    file = small / "course" / "00_draws.md"
    cell = '```{code-cell} ipython3\ncheck("00.ping_pong")\n```\n'
    define = '```{code-cell} ipython3\ncheck = lambda name: print("RESULT of", name)\n```\n'
    file.write_text(file.read_text(encoding="utf-8") + "\n" + define + "\n" + cell, encoding="utf-8")
    bind(small, tmp_path / "book", tell=lambda said: None)
    page = (tmp_path / "book" / "00_draws.html").read_text(encoding="utf-8")
    assert "RESULT of 00.ping_pong" not in page
    assert "In the notebook this says what your function does right" in page


def test_places_in_the_library_are_those_of_its_sources_and_of_no_machine():
    from dlmini.lessons.thousands_of_devices import jobs

    assert cells.printed(f"rank 7: {jobs.__file__}:135: loss") == (
        '<pre class="printed">rank 7: dlmini/lessons/thousands_of_devices/jobs.py:135: loss</pre>'
    )


def test_a_table_that_a_cell_has_made_is_a_table():
    left = {"text/markdown": "**Three**\n\n| a | b |\n|---|---|\n| 1 | <2> |\n", "text/plain": "<Markdown object>"}
    html = cells.displayed(left)
    assert "<strong>Three</strong>" in html
    assert "<td>1</td>" in html
    assert "object" not in html
    assert "<2>" not in html


def test_whose_functions_ran_and_who_did_not_guess_is_not_in_the_book():
    left = [
        {"output_type": "stream", "name": "stdout", "text": text} for text in ("one\n", "9 of 9. This was your a, b.\n")
    ]
    assert cells.outputs(left) == '<pre class="printed">one\n9 of 9.</pre>'
    assert cells.printed("This was your a. This was your B.c.\nnot 2.5, but 3.") == cells.printed("not 2.5, but 3.")
    card = "<div><b>How many?</b><br>measured 3<br><span style='opacity:.75'>no guess this time</span></div>"
    assert "measured 3</div>" in cells.displayed({"text/html": card})


def test_names_are_called_as_one_would_type_them():
    lines = {name: called(name, getattr(dlmini, name)) for name in dlmini.__all__}
    assert lines["Classify"].endswith("train: Dataset, test: Dataset, batch: int = 100, split: Callable = split_iid)")
    assert lines["Cluster"].startswith("Cluster(network: Network = gigabit, flops: float = ")
    assert lines["load"] == "load(name: str, *, full: bool = False) -> tuple[Dataset, Dataset]"
    assert "sync: object = BulkSynchronous()" in lines["Recipe"]
    assert not [line for line in lines.values() if re.search(r" at 0x|<|dlmini\.|collections|: '", line)]


def test_slides_have_every_question_and_every_figure(small, tmp_path):
    file = small / "course" / "00_draws.md"
    text = file.read_text(encoding="utf-8")
    asked = "\n## 1. Sums\n\n> **The question.** How much is $x^2$?\n\n"
    asked += "> **Before you press Start.** Guess a [loss](glossary.md).\n"
    file.write_text(text.replace("```{code-cell}", asked + "\n```{code-cell}", 1), encoding="utf-8")
    assert binding.slides(small, tmp_path, ["00_draws"], "fast", lambda said: None) == []
    page = (tmp_path / "00_draws.html").read_text(encoding="utf-8")
    assert page.count("<section") == 4
    assert page.count(PIXEL) == 1
    assert page.count("1. Sums</h2>") == 3
    assert "<math" in page
    assert "Guess a loss." in page
    assert not re.search(r"<script|<link\b|<a\b|src=\"http", page)


def test_pictures_say_what_is_on_them():
    from dlmini import curves
    from dlmini.events import Measured
    from dlmini.show.paper import described

    figure = curves({name: [Measured(0, 0.5, 0.8, rank=0, at=1.0)] for name in ("a way", "another")})
    said = described(figure)
    assert "a way, another" in said
    assert "accuracy" in said
    data, facts = figure._repr_mimebundle_()
    assert facts["image/png"]["alt"] == said == data["text/plain"]
    shown = cells.displayed({"image/png": PIXEL}, facts)
    assert f'alt="{said}"' in shown


def test_the_index_says_what_each_lesson_teaches_and_needs(book):
    text = (book / "index.html").read_text(encoding="utf-8")
    goals = text.partition("you will be able to</th>")[2].partition("</table>")[0]
    assert all(f"<td>{it.number}</td>" in goals for it in lessons.written(PROJECT / "course"))


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        (r"\mathbb E", ["𝔼"]),
        (r"\mathbb R", ["ℝ"]),
        (r"x^{\mathsf T}", ["𝖳"]),
        (r"\boxed{x}", ['<mrow class="boxed">']),
        (r"\mathrm{d}w", ["<mtext>d</mtext>"]),
        (r"\bar w", ['<mrow class="bar">']),
        (r"\frac12", ["<mn>1</mn><mn>2</mn>"]),
        (r"\lfloor a \rfloor", [">⌊</mo>", ">⌋</mo>"]),
        (r"2 \log p", ['<mn>2</mn><mspace width="0.167em" /><mi>log</mi><mspace width="0.167em" />']),
    ],
)
def test_formulas_use_only_what_browsers_know(tex, parts):
    drawn = formulas.inline(tex)
    assert all(part in drawn for part in parts), drawn
    assert "menclose" not in drawn


def test_a_formula_that_stands_alone_may_break_between_its_parts_but_not_within_a_bracket():
    assert formulas.parts(r"a = b, \qquad c = d") == ["a = b,", "c = d"]
    assert formulas.parts(r"\boxed{a \qquad b}") == [r"\boxed{a \qquad b}"]
    assert formulas.alone(r"a \qquad b").count("<math") == 2


@pytest.mark.parametrize("tex", [r"\nonsense x", r"\frac{1}", r"\left( x"])
def test_a_formula_that_cannot_be_read_is_named(tex):
    with pytest.raises(ValueError, match=r"the formula \$") as error:
        formulas.inline(tex)
    assert tex in str(error.value)


def test_what_is_live_leaves_its_picture_or_a_sentence():
    widget = {cells.WIDGET: {}, "text/plain": "Desk()"}
    assert cells.displayed(widget) == '<p class="live">Live in the notebook.</p>'
    assert PIXEL in cells.displayed(widget | {"image/png": PIXEL})
    film = f'<link href="https://example.org/x.css"><img src="data:image/png;base64,{PIXEL}"><script>play()</script>'
    shown = cells.displayed({"text/html": film, "text/plain": "Film()"})
    assert PIXEL in shown
    assert "Live" in shown
    assert not {"<script", "https:"} & set(re.findall(r"<script|https:", shown))


def test_what_is_printed_bit_by_bit_is_one_text_and_warnings_are_left_out():
    said = [
        ("stdout", "one\n"),
        ("stdout", "two\n"),
        ("stderr", "beware\n"),
        ("stdout", "at /tmp/ipykernel_7/42.py:3\n"),
    ]
    left = [{"output_type": "stream", "name": name, "text": text} for name, text in said]
    assert cells.outputs(left) == '<pre class="printed">one\ntwo</pre><pre class="printed">at cell:3</pre>'


LESSON = """# 00 · {title}

What is two and two, and does $x^2$ know?

```{{code-cell}} ipython3
{code}
```

```{{code-cell}} ipython3
print("after", 1 + 1)
```
"""
DRAWN = f"""from dlmini import profile
print("<sum>", profile.pick(400, 4) + 1)
from IPython.display import Image
from base64 import b64decode
Image(b64decode("{PIXEL}"))"""


@pytest.fixture
def small(tmp_path):
    """A course of two lessons: one that draws, one that fails."""
    root = tmp_path / "clone"
    for part in ("course", "solutions"):
        (root / part).mkdir(parents=True)
    shutil.copy(PROJECT / "solutions" / "00_meet_the_lab.py", root / "solutions" / "00_draws.py")
    for name, text in {
        "SYLLABUS": "# Syllabus",
        "LECTURERS": "# Guide",
        "index": "# Small\n\n<!-- lessons -->",
    }.items():
        (root / "course" / f"{name}.md").write_text(text, encoding="utf-8")
    for name, code in {"00_draws": DRAWN, "01_fails": "1 / 0"}.items():
        text = LESSON.format(title=name[3:], code=code)
        (root / "course" / f"{name}.md").write_text(text, encoding="utf-8")
    return root


def test_outputs_stand_on_the_page_and_a_lesson_that_fails_does_not_lose_the_rest(small, tmp_path, monkeypatch):
    told, folder = [], tmp_path / "book"
    failures = bind(small, folder, tell=told.append)
    assert failures == ["01_fails: code cell 1 of 2 ended with ZeroDivisionError: division by zero"]
    assert len(told) == 2
    drawn = (folder / "00_draws.html").read_text(encoding="utf-8")
    assert '<pre class="printed">&lt;sum&gt; 5</pre>' in drawn
    assert f'<img src="data:image/png;base64,{PIXEL}"' in drawn
    failed = (folder / "01_fails.html").read_text(encoding="utf-8")
    assert "This cell ended with ZeroDivisionError: division by zero. The cells after it were not run." in failed
    assert "after 2" not in failed
    assert "after 2" in drawn

    ran = []
    monkeypatch.setattr(runs, "executed", lambda book, *_: ran.append(book.cells[0].source) or "")
    assert bind(small, folder, tell=told.append) == []
    assert ["fails" in text for text in ran] == [True], "only what failed is run again"
    assert (folder / "00_draws.html").read_text(encoding="utf-8") == drawn


def test_formulas_of_an_exercise_stand_alone_and_words_flow():
    one, two = (
        exercises.appendix((PROJECT / "exercises" / f"{name}.py").read_text(encoding="utf-8"), name)
        for name in ("01_backpropagation", "15_volunteers")
    )
    assert "<pre>    z = x w1 + b1        h = max(z, 0)" in one
    assert "<p>x: [B, n], labels: [B]; w1: [n, m]" in one
    assert "<pre>1. The event.\n" in two


def test_without_solutions_as_in_a_wheel_lessons_run_with_the_exercises_as_they_are_handed_out(small, tmp_path):
    stub = strip((small / "solutions" / "00_draws.py").read_bytes(), "00_draws.py")
    shutil.rmtree(small / "solutions")
    (small / "exercises").mkdir()
    (small / "exercises" / "00_draws.py").write_bytes(stub)
    (small / "course" / "01_fails.md").unlink()
    lesson = small / "course" / "00_draws.md"
    asked = "from pathlib import Path; print(len(Path('../exercises/00_draws.py').read_bytes()))"
    lesson.write_text(LESSON.format(title="draws", code=asked), encoding="utf-8")
    assert bind(small, tmp_path / "book", tell=lambda said: None) == []
    page = (tmp_path / "book" / "00_draws.html").read_text(encoding="utf-8")
    assert f'<pre class="printed">{len(stub)}</pre>' in page
    assert all(f"<h3><code>{name}</code></h3>" in page for name in stubs(stub.decode()))


def test_a_formula_that_cannot_be_read_is_told_with_its_lesson(small, tmp_path):
    file = small / "course" / "01_fails.md"
    file.write_text(file.read_text(encoding="utf-8").replace("x^2", r"\nonsense"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"course/01_fails\.md: the formula \$\\nonsense\$"):
        bind(small, tmp_path / "book", run=False, tell=lambda said: None)


def test_outputs_are_kept_for_the_same_notebook_solutions_and_profile_only(small):
    text = json.dumps({"cells": []})
    marks = [runs.fingerprint(text, small / "solutions", profile) for profile in ("fast", "normal")]
    (small / "solutions" / "00_draws.py").write_text("x = 1\n", encoding="utf-8")
    marks += [runs.fingerprint(said, small / "solutions", "fast") for said in (text, text + " ")]
    assert len(set(marks)) == 4


def test_the_command_says_what_is_wrong(tmp_path, monkeypatch):
    from dlmini.cli import app

    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    refused = CliRunner().invoke(app, ["course", "book", str(tmp_path / "taken"), "--no-run"])
    assert "is a file; name a folder" in str(refused.exception)
    refused = CliRunner().invoke(app, ["course", "book", str(tmp_path), "--profile", "slow"])
    assert "use one of normal, fast" in str(refused.exception)
    monkeypatch.setattr(binding, "NEEDED", ("no_such_library",))
    with pytest.raises(ImportError, match=r'no_such_library: pip install -e "\.\[book\]"'):
        bind(PROJECT, tmp_path, run=False)
    monkeypatch.setattr(binding, "clone", lambda: None)
    with pytest.raises(ImportError, match=r'no_such_library: pip install "dlmini\[book\]" brings it'):
        bind(PROJECT, tmp_path, run=False)
