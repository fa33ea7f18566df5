"""The journal holds whatever a child has said, and a resumed run reads all of it that was written to its end."""

import json
import os
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini.grade.journal import Journal, whole_lines
from dlmini.grade.verdict import FAILED, INFRA, Verdict

TERMS = {"lesson": "98_made_up"}
ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\ufeff\x00\ud800"  # some of them end lines for some
TEXT = st.text(st.characters() | st.sampled_from(ENDS), max_size=30)
NOTHING = [b"{}", b"[]", b"1", b'{"verdict": 3}', b"[" * 5000]
VERDICTS = st.builds(
    Verdict,
    *(st.text(max_size=8), TEXT, st.just(FAILED), st.floats(), st.floats(), TEXT, TEXT),
    detail=TEXT,
    printed=TEXT,
    where=TEXT,
    waits=st.lists(TEXT, max_size=2),
)


@examples(60)
@given(st.lists(st.tuples(TEXT, TEXT, VERDICTS), max_size=5), st.binary(max_size=40))
def test_what_was_said_is_read_again_to_the_letter_and_a_torn_line_is_cut_off(tmp_path_factory, said, torn):
    file = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal = Journal(file, TERMS, resume=False)
    for name, digest, verdict in said:
        journal.add(name, digest, verdict)
    journal.close()
    with file.open("ab") as opened:
        opened.write(torn.replace(b"\n", b""))
    again = Journal(file, TERMS, resume=True)
    again.add("one", "more", Verdict("f", "t", FAILED, 0, 1, "public", "x"))
    again.close()
    once_more = Journal(file, TERMS, resume=True)
    once_more.close()
    known = {(n, d, v.test): v for n, d, v in said}
    for key, verdict in known.items():
        assert repr(once_more.find(*key)) == repr(verdict)
    assert once_more.find("one", "more", "t")


@examples(200)
@given(
    st.lists(st.binary(max_size=80) | st.sampled_from([b"{}", b"[]", b"1", b'{"verdict": 3}', b"[" * 5000]), max_size=6)
)
def test_lines_that_mean_nothing_are_passed_over(tmp_path_factory, lines):
    file = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    file.write_bytes(json.dumps(TERMS).encode() + b"\n" + b"".join(line + b"\n" for line in lines))
    journal = Journal(file, TERMS, resume=True)
    journal.close()
    assert journal.known == {}


@examples(200)
@given(st.binary(max_size=200))
def test_a_journal_of_any_bytes_is_read_or_refused_in_a_sentence(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    file.write_bytes(data)
    begun = whole_lines(file)[:1]
    if begun in ([], [TERMS]):
        Journal(file, TERMS, resume=True).close()
    else:
        with pytest.raises(ValueError, match="name another folder"):
            Journal(file, TERMS, resume=True)


def test_what_the_grader_failed_at_is_tried_again(tmp_path):
    journal = Journal(tmp_path / "j", TERMS, resume=False)
    journal.add("ann", "x", Verdict("f", "t", INFRA, 0, 1, "public", "x"))
    journal.close()
    assert Journal(tmp_path / "j", TERMS, resume=True).find("ann", "x", "t") is None
    with pytest.raises(ValueError, match="--resume"):
        Journal(tmp_path / "j", TERMS, resume=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has other locks")
def test_two_runs_at_once_do_not_write_one_journal(tmp_path):
    """The second would cut off the line that the first one is writing."""
    file = tmp_path / "out" / "journal.jsonl"
    first = Journal(file, TERMS, resume=False)
    first.out.write('{"half a line')
    first.out.flush()
    with pytest.raises(ValueError, match="out is being graded into by another run; wait for it, or name another"):
        Journal(file, TERMS, resume=True)
    assert file.read_bytes().endswith(b'{"half a line')
    first.close()
    with pytest.raises(ValueError, match="was begun with"):
        Journal(file, {"lesson": "another"}, resume=True)
    Journal(file, TERMS, resume=True).close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is always full, of Linux")
def test_a_full_disk_is_named_and_what_was_written_before_is_kept(tmp_path):
    verdict = Verdict("f", "t", FAILED, 0, 1, "public", "x")
    journal = Journal(tmp_path / "journal.jsonl", TERMS, resume=False)
    journal.add("Ann", "d", verdict)
    whole, journal.out = journal.out, Path("/dev/full").open("a", encoding="ascii")  # noqa: SIM115 the journal closes it
    with pytest.raises(OSError, match=r"journal.jsonl could not be written: No space left .* --resume"):
        journal.add("Bo", "d", verdict)
    journal.close()  # and it says no other word about it
    whole.close()
    again = Journal(tmp_path / "journal.jsonl", TERMS, resume=True)
    assert again.find("Ann", "d", "t") == verdict
    assert again.find("Bo", "d", "t") is None
    again.close()
