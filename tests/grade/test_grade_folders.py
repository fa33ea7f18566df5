"""Results never mix with hand-ins, another class or a leaderboard: that is refused before anything is written."""

import pytest
from grade_course import solution
from typer.testing import CliRunner

from dlmini.cli import app

GRADE, BOARD = ["grade", "00"], ["leaderboard"]


def ended(*words):
    """(exit code, what was said, in one line)."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    said = done.output + (str(done.exception) if done.exception else "")
    return done.exit_code, " ".join(said.split())


def listing(folder):
    return sorted((str(path), path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*"))


@pytest.fixture
def class_(tmp_path):
    for name in ("ann", "bob"):
        (tmp_path / "all" / "class" / name / "src").mkdir(parents=True)
        (tmp_path / "all" / "class" / name / "00_meet_the_lab.py").write_text(solution("00_meet_the_lab"))
    return tmp_path / "all" / "class"


@pytest.mark.parametrize("command", [GRADE, BOARD], ids=["grade", "leaderboard"])
@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        (".", "is the folder of the hand-ins itself"),
        ("..", "lies around the hand-ins"),
        ("ann", "perhaps a student's"),
        ("ann/src", "lies inside a folder of the hand-ins"),
        ("new/grades", "lies inside a folder of the hand-ins"),
        ("../link", "is the folder of the hand-ins itself"),
        ("ann/00_meet_the_lab.py", "is a file"),
    ],
)
def test_results_do_not_mix_with_hand_ins(class_, command, place, sentence):
    (class_.parent / "link").symlink_to("class")
    before = listing(class_.parent)
    code, said = ended(*command, class_, "-o", class_ / place)
    assert code
    assert sentence in said
    assert listing(class_.parent) == before


@pytest.mark.parametrize("command", [GRADE, BOARD], ids=["grade", "leaderboard"])
@pytest.mark.parametrize("mark", ["journal.jsonl", "leaderboard.csv"])
def test_results_of_another_kind_are_no_place_and_no_class(class_, command, mark):
    other = class_.parent / "other"
    other.mkdir()
    (other / mark).write_text("")
    (other / "secret.txt").write_text("ab" * 32)
    before = listing(class_.parent)
    code, said = ended(*command, other, "-o", class_.parent / "new")
    assert code
    assert "not submissions" in said
    if (mark == "journal.jsonl") != (command is GRADE):
        code, said = ended(*command, class_, "-o", other)
        assert code
        assert "already" in said
    assert listing(class_.parent) == before


def test_what_a_student_hands_in_beside_a_program_refuses_nobody(class_):
    for name in ("journal.jsonl", "leaderboard.csv"):
        (class_ / "ann" / name).write_text("")
    assert ended(*GRADE, class_ / "ann", "-o", class_.parent / "one")[0] == 0
    (class_ / "ann" / "secret.txt").write_text("")
    results = class_.parent / "results.json"
    assert ended(*GRADE, class_ / "ann", "-o", class_.parent / "two", "--gradescope", results)[0] == 0
    assert results.is_file()


def test_a_folder_of_grades_takes_no_other_class_or_lesson(class_):
    out, second = class_.parent / "grades", class_.parent / "second"
    assert ended(*GRADE, class_, "-o", out)[0] == 0
    (second / "eve").mkdir(parents=True)
    (second / "eve" / "00_meet_the_lab.py").write_text(solution("00_meet_the_lab"))
    before = listing(out)
    code, said = ended(*GRADE, second, "-o", out, "--resume")
    assert code
    assert "grades of others (ann, bob)" in said
    code, said = ended("grade", "01", class_, "-o", out, "--resume")
    assert code
    assert "was begun with 00_meet_the_lab and holds its grades, not those of 01_back" in said
    assert listing(out) == before


def test_grades_at_the_top_of_the_class_stay_possible(class_):
    for more in ([], ["--resume"]):
        code, said = ended(*GRADE, class_, "-o", class_ / "grades", *more)
        assert not code, said
    assert "ann" in said
    assert len((class_ / "grades" / "grades.csv").read_text().splitlines()) == 3
