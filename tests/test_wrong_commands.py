"""Wrong command lines get a sentence before anything is computed; full disks and taken places cost nothing."""

import errno
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from dlmini import Classify, Recipe, Simulated, blobs, cli, files, softmax_regression, train
from dlmini.commands.progress import Progressing, clock
from dlmini.configurations import Point, Row
from dlmini.crew import ctrl_c_later, worked_off
from dlmini.terminal import write_results

PYTHON = re.compile(
    r"Traceback|__\w+__|not supported between|None_\(|Switch\(|<class|object at 0x|NoneType|positional arg"
)
TOGETHER = ("train", "--workers", "2", "--model", "softmax_regression", "--on", "simulated", "--epochs", "1")
WRONG = [
    (
        ("train", "--sync", "ssp:3"),
        "one worker talks to nobody, so --sync would have no effect",
    ),
    (("train", "--topology", "gossip", "--compress", "int8"), "so --topology, --compress would have no effect"),
    (("train", "--until", "0.9", "--network", "wifi"), "so --network would have no effect"),
    (("train", "--on", "simulated"), "one worker talks to nobody, so --on would have no effect"),
    (("train", "--network", "gigabit", "--out", "new"), "so --network, --out would have no effect"),
    (("train", "--tile", "64"), "--tile 64 is the size of tiles to segment, and would have no effect"),
    (("train", "--task", "segment", "--full"), "--full is for sets of pictures with classes"),
    (("train", "--workers", "2", "--sync", "local:1,textbook,0,4"), "after local: come steps, variant"),
    (("train", "--workers", "2", "--sync", "local:steps=3,steps=4"), "steps is given twice"),
    (("train", "--workers", "2", "--on", ""), "there is no place called ''"),
    (("train", "--model", ""), "there is no model called ''"),
    (("train", "--data", ""), "no dataset called ''"),
    (("train", "--workers", "2", "--sync", "local:x"), "it must be a whole number"),
    (("train", "--workers", "2", "--sync", "bsp:3"), "nothing follows bsp; write it without a colon"),
    (("train", "--workers", "2", "--topology", "server:two"), "it must be a whole number"),
    (("train", "--workers", "2", "--topology", "gossip:what=nothing"), "it must be 'updates' or 'weights'"),
    (
        ("train", "--workers", "2", "--topology", "allreduce:pigeon"),
        "no schedule called 'pigeon'; choose one of",
    ),
    (("train", "--workers", "2", "--topology", "choco"), "after choco: come compressor, graph, gamma"),
    (("train", "--workers", "2", "--compress", "topk:much"), "it must be a finite number"),
    (
        ("train", "--workers", "2", "--compress", "deflate:int9"),
        "no compression called 'int9'; choose one of",
    ),
    (("train", "--workers", "2", "--on", "mpi", "--network", "wifi"), "leave it out"),
    (("train", "--workers", "2", "--on", "classroom:here"), "say at which port PCs join"),
    (("train", "--workers", "2", "--sync", "ssp:3", "--on", "simulated"), "use ParameterServer"),
    (("compare", "--workers", "some"), "give a number, or several such as 16,60"),
    (("compare", "--workers", "16,60,16"), "one of these numbers stands there twice"),
    (("compare", "--batch", "100000"), "for each of 16 workers; give at most so many, or fewer workers"),
    (("compare", "--workers", "2,16", "--batch", "5000"), "for each of 16 workers; give at most so many"),
    (("compare", "--only", "0"), "give numbers from 1 to 10"),
    (("compare", "--on", "processes", "--flops", "1e9"), "--flops and --jitter are of simulated machines"),
    (("compare", "--rate", "nan", "--epochs", "1"), "rate is nan"),
    (("compare", "--reading", "own=whole"), "give --as-published with it"),
    (("compare", "--threshold", "2"), "give --as-published with it"),
    (("compare", "--as-published", "--reading", "own=half"), "own is one of sent, where_sent, whole"),
    (("compare", "--as-published", "--reading", "mixed=weights"), "leave configurations 6 and 9 out"),
    (("compare", "--as-published", "--workers", "210"), "take fewer workers, smaller batches or more data"),
    (("compare", "--cluster", "polus", "--network", "wifi"), "leave --network wifi out"),
    (("compare", "--cluster", "polus", "--workers", "61"), "polus had 60 cores at most"),
    (("compare", "--cluster", "moon"), "no cluster called 'moon'; choose one of polus, lomonosov2"),
    (("compare", "--cifar", "nowhere"), "does not exist; expected a folder or a .tar.gz archive"),
    (("compare", "--cifar", "nowhere", "--data", "mnist"), "leave --data mnist out"),
    (("plan", "nothing"), "bloom-176b"),
    (("plan", "bloom-176b", "--devices", "7", "--tensor", "2"), "it must be a multiple of tensor x pipe = 2"),
    (("plan", "bloom-176b", "--recompute", "maybe"), "recompute"),
    (
        ("plan", "gpt2", "--search", "--zero", "0", "--sequence-parallel"),
        "so --zero, --sequence-parallel would have no",
    ),
    (("plan", "gpt2", "--bucket", "1000"), "only DeepSpeed has a bucket of its own, so --bucket would have no effect"),
    (("plan", "gpt2", "--search", "--gradient", "3"), "gradient is 3; it must be 2 or 4 bytes each"),
    (("classroom", "--world", "moon"), "choose some of reckoned, simulated, real, or all"),
    (("distbelief", "--world", "moon"), "choose some of reckoned, simulated, processes, or all"),
    (("warm-up", "everything"), "choose one of networks"),
    (("data", "get", "nothing"), "fashion-mnist"),
    (("check", "99"), "99"),
    (("check", "4"), "such as 04.ring_allreduce, or a lesson alone, such as 04; not '4'"),
    (("check", "00", "--seed", "-1"), "seed is -1; it must be a whole number of at least 0"),
    (("check", "00", "--folder", "nowhere"), "00_meet_the_lab.py was not found in nowhere; is this the folder of your"),
    (("grade", "04", "nowhere"), "nowhere"),
    (("doctor", "--hosts", "nowhere"), "nowhere: No such file or directory; check the path"),
    (("course", "slides", "99"), "there is no lesson '99'; give numbers such as 04"),
    (("lab", "--no-token"), "without its token"),
    ((*TOGETHER, "--workers", "1000000"), "every worker needs at least one of its own; give at most so many"),
    ((*TOGETHER, "--batch", "6000"), "--batch 6000: 10000 images are 5000 for each of 2 workers; give at most so many"),
    (("train", "--model", "softmax_regression", "--batch", "99999"), "10000 images are all there are; give at most"),
    ((*TOGETHER, "--until", "1.5"), "--until 1.5: give the share of the test set that is to be right, such as 0.85"),
    ((*TOGETHER, "--until", "85"), "--until 85: give the share of the test set"),
    ((*TOGETHER, "--until", "nan"), "--until nan: give the share of the test set"),
    (("train", "--until", "-0.5"), "--until -0.5: give the share of the test set"),
    ((*TOGETHER, "--compress", "topk:"), "something is missing beside a colon or comma"),
    ((*TOGETHER, "--topology", "allreduce:hierarchical"), "after hierarchical: come per_node"),
    ((*TOGETHER, "--network", ""), "there is no network called ''"),
    (("volunteer", "serve", ""), "it has no name; say where the project lives"),
    (("volunteer", "demo", "--part", "moon"), "choose some of"),
    (
        ("volunteer", "serve", "p", "--deadline", "nan"),
        "--deadline is nan; it must be a finite number above 0: seconds",
    ),
    (("volunteer", "status", ""), "the address is ''; it must be what the server shows: http://HOST:PORT"),
    (("volunteer", "join", "http://localhost:99999"), "it must be what the server shows: http://HOST:PORT"),
    (("volunteer", "join", "http://:80"), "it must be what the server shows: http://HOST:PORT"),
    (("compare", "--only", "1,1"), "--only 1,1: give numbers from 1 to 10, such as 1,9, each once"),
    (("reproduce", "--only", "S0,,S1"), "--only 'S0,,S1': choose some of S0, S1, S2, S3, S4; each once, with commas"),
    (("classroom", "--world", "reckoned,reckoned"), "choose some of reckoned, simulated, real, or all; each once"),
    (("distbelief", "--world", ""), "--world '': choose some of reckoned, simulated, processes, or all"),
    (("lab", "--ip", "no.such.host.invalid"), "--ip no.such.host.invalid --port 0 cannot be used"),
    (("lab", "--ip", "a..b"), "--ip a..b --port 0 cannot be used (it is no address); choose others, or leave both out"),
]


def said(words, monkeypatch, capsys) -> tuple[int, str]:
    """What a command prints, in one line, and its exit code; run in this process."""
    monkeypatch.setattr(sys, "argv", ["dlmini", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    found = capsys.readouterr()
    return end.value.code, " ".join((found.out + found.err).split())


@pytest.mark.parametrize(("words", "advice"), WRONG, ids=lambda it: " ".join(it) if isinstance(it, tuple) else "")
def test_a_wrong_command_line_gets_a_sentence_without_python_in_it(words, advice, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, text = said(words, monkeypatch, capsys)
    assert code in (1, 2)
    assert advice in text
    assert not PYTHON.search(text), text
    assert len(text) < 600
    assert not list(tmp_path.iterdir())


def test_what_is_printed_of_a_run_is_plain_words(monkeypatch, capsys):
    code, text = said((*TOGETHER, "--network", "gigabit", "--data", "mnist"), monkeypatch, capsys)
    assert code == 0
    text = " ".join(text.split())
    assert (
        "2 workers · when: bsp · with whom: allreduce · how briefly: none · where: simulated, network gigabit" in text
    )
    assert not PYTHON.search(text)
    [*bars] = re.findall(r"([\d.]+) \+ ([\d.]+) \+ ([\d.]+) \+ ([\d.]+) = ([\d.]+) s", text)
    assert len(bars) == 2
    for *parts, whole in bars:
        assert sum(map(float, parts)) == pytest.approx(float(whole), abs=0.021)
    assert float(re.search(r"after ([\d.]+) s ·", text)[1]) == pytest.approx(max(float(b[-1]) for b in bars), abs=0.011)


# ---- places that are taken, or full: said before the work where that can be known, and nothing lost afterwards ----

TAKEN = [
    (*TOGETHER, "--out"),
    ("compare", "--only", "1", "--epochs", "1", "--out"),
    ("plan", "bloom-560m", "--out"),
    ("distbelief", "--world", "reckoned", "--out"),
    ("classroom", "--out"),
]


@pytest.mark.parametrize("words", TAKEN, ids=lambda words: words[0])
@pytest.mark.parametrize("place", ["folder", "file", "file/new", "gone/../file/new"])
def test_a_place_that_is_taken_is_refused_before_the_work(words, place, monkeypatch, capsys, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "dear.txt").write_text("dear")
    (tmp_path / "file").write_text("dear")
    monkeypatch.setattr("dlmini.run.train", None)  # whoever computes anything fails otherwise
    monkeypatch.chdir(tmp_path)
    code, text = said((*words, place), monkeypatch, capsys)
    assert code == 1
    assert "is there already; results go to a new folder" in text or "is no folder that may be written to" in text
    assert (tmp_path / "folder" / "dear.txt").read_text() == (tmp_path / "file").read_text() == "dear"


@pytest.mark.parametrize("place", ["missing/w.npz", ".", "file/w.npz"])
def test_weights_that_could_not_be_saved_are_not_trained(place, monkeypatch, capsys, tmp_path):
    (tmp_path / "file").write_text("dear")
    monkeypatch.setattr("dlmini.terminal.alone", None)
    monkeypatch.chdir(tmp_path)
    code, text = said(("train", "--save", place), monkeypatch, capsys)
    assert code == 1
    assert "could not be written" in text


def full(place: Path):
    """A disk that has become full while something was computed."""
    if place.parent.name == "full":
        raise OSError(errno.ENOSPC, f"{place} could not be written: {os.strerror(errno.ENOSPC)}")
    np.save(place.with_suffix(".npy"), np.arange(3))


def test_what_was_computed_goes_elsewhere_when_its_disk_is_full(monkeypatch, capsys, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    place, why = files.kept(tmp_path / "full" / "w.npy", full)
    assert place.parent == home
    assert np.load(place).tolist() == [0, 1, 2]
    assert "No space left" in why
    write_results(tmp_path / "full" / "w.npy", full, "weights")
    assert "No space left" in (text := " ".join(capsys.readouterr().out.split()))
    assert "weights written to" in text


def test_where_nothing_can_be_written_the_first_error_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "full")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "full"))
    with pytest.raises(OSError, match="No space left"):
        files.kept(tmp_path / "full" / "w.npy", full)


def test_a_folder_on_a_full_disk_is_kept_whole_elsewhere(monkeypatch, tmp_path):
    """By a limit of the system itself for the one place, as far as a test may go: its rename fails."""
    home, rename = tmp_path / "home", os.rename
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)

    def refuse(old, new):
        if Path(new).parent.name == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rename(old, new)

    monkeypatch.setattr(os, "rename", refuse)
    contents = {"a.txt": lambda stream: stream.write(b"a"), "b.txt": lambda stream: stream.write(b"b")}
    place, _ = files.kept(tmp_path / "full" / "out", lambda folder: files.write_folder(folder, contents))
    assert sorted(file.name for file in place.iterdir()) == ["a.txt", "b.txt"]
    assert not list((tmp_path / "full").iterdir())


# ---- comparing: how far it is, and an end that keeps what is done ----


def test_progress_says_how_far_each_is_and_how_long_it_takes(monkeypatch):
    now = iter([100.0, 103.0, 103.0])
    monkeypatch.setattr("dlmini.commands.progress.time.perf_counter", lambda: next(now))
    at = Progressing(10)
    assert at.to_go() == "how long is not known yet"
    at.ended(1)
    at.reached(2, 0.5)
    assert str(at) == "1 of 10 done · 2: 50% · about 17 s to go"
    assert clock(600) == "10 min"


def row(number: int) -> Row:
    curve = (Point(1.0, 2.0, 0.5, 0.75),)
    return Row(number, 1, "AllReduce", "None_()", 0.75, 2.0, 1.0, 0.5, 0.5, 3.0, 4, curve)


def test_ctrl_c_ends_a_comparison_with_what_is_done(monkeypatch, capsys, tmp_path):
    def interrupted(task, recipes, place, ended, per_epoch, crew, reached):
        reached(1, 0.5)
        ended(row(1))
        raise KeyboardInterrupt

    monkeypatch.setattr("dlmini.configurations.compare", interrupted)
    words = ("compare", "--only", "1,9", "--model", "softmax_regression", "--data", "mnist", "--repeat", "2")
    code, text = said((*words, "--out", str(tmp_path / "out")), monkeypatch, capsys)
    assert code == 130
    assert "1 Local-SGD(1), AllReduce: 75.0% (1 of 4, about" in text
    assert "stopped by hand: 1 of 4 runs are done, and kept" in text
    assert "stopped by hand after 1 of 4 runs" in (tmp_path / "out" / "table.md").read_text("utf-8")
    assert (tmp_path / "out" / "table.csv").read_text("utf-8").count("\n") == 2


def quick_or_endless(common, job, tell):
    tell(0.5)
    if job == "endless":
        threading.Event().wait()
    return common, job


def test_who_leaves_jobs_ends_their_processes_and_has_what_was_done():
    heard, before = [], set(multiprocessing.active_children())
    jobs = worked_off(quick_or_endless, "all", ["endless", "quick"], 2, lambda *news: heard.append(news))
    assert next(jobs) == (1, ("all", "quick"))
    assert (1, 0.5) in heard
    left = set(multiprocessing.active_children()) - before
    assert len(left) == 2
    jobs.close()
    assert not any(process.is_alive() for process in left)


def mask(common, job, tell):
    """Signals that a process is born without hearing."""
    return [int(sign) for sign in signal.pthread_sigmask(signal.SIG_BLOCK, ())]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no masks of signals")
def test_no_process_hears_of_ctrl_c_while_it_is_born_not_even_the_first():
    script = (
        "import signal, sys; sys.path.insert(0, sys.argv[1]); from test_wrong_commands import mask\n"
        "from dlmini.crew import worked_off\n"
        "if __name__ == '__main__': print(all(signal.SIGINT in found for _, found in worked_off(mask, 0, [0, 1], 2)))"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "True"


@pytest.mark.skipif(os.name != "posix", reason="Windows has no masks of signals")
def test_ctrl_c_before_a_command_has_begun_prints_nothing():
    script = (
        "import signal; from dlmini import cli, __main__ as start\n"
        "cli.main = lambda: signal.raise_signal(signal.SIGINT)\nstart.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no masks of signals")
def test_ctrl_c_while_a_process_is_born_waits_until_it_is():
    reached = []

    def interrupted():
        with ctrl_c_later():
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def raises(common, job, tell):
    raise ValueError(f"job {job} is wrong")


def test_what_a_job_raises_is_raised_here_and_a_killed_one_is_named():
    with pytest.raises(ValueError, match="job 7 is wrong"):
        list(worked_off(raises, None, [7], 1))
    with pytest.raises(RuntimeError, match=f"ended with exit code -{signal.SIGKILL}"):
        list(worked_off(killed, None, [7], 1))


def killed(common, job, tell):
    os.kill(os.getpid(), signal.SIGKILL)


# ---- studies: what would be ignored is refused; Ctrl-C keeps what is done ----

IGNORED = [
    (("train", "--threads", "1000000"), "a batch of 50 images cannot be shared by so many; give at most 50"),
    (("classroom", "--seeds", "5", "--keep", "k"), "nothing is trained, so --seeds, --keep would have no effect"),
    (("classroom", "--long"), "nothing is trained, so --long would have no effect; add --world simulated"),
    (("distbelief", "--world", "reckoned", "--crew", "7"), "reckoning takes no time, so --crew would have no effect"),
    (("volunteer", "demo", "--part", "delivery", "--crew", "3"), "nothing is trained, so --crew would have no effect"),
    (("volunteer", "demo", "--part", "delivery", "--seeds", "3"), "nothing is swept, so --seeds would have no effect"),
    (("reproduce", "--only", "S1", "--long"), "only S3 has a long form, so --long would have no effect"),
    (("reproduce", "--only", "S1", "--out", "gone/page.md"), "is no folder that may be written to"),
    (("leaderboard", "--secret", "nowhere"), "64 hexadecimal digits (No such file or directory: 'nowhere')"),
    (("leaderboard", "--replay", "ours", "--worlds", "2"), "the worlds of the board, so --worlds would have no effect"),
    (("leaderboard", "--replay", "ours", "--secret", "s.txt"), "so --secret would have no effect; leave it out"),
    (("grade", "--demo", "04"), "of its own, so 04 would have no effect; leave --demo out to grade yours"),
    (("grade", "--demo", "04", "folder"), "of its own, so 04 would have no effect"),
    (("grade", "--demo", "--take", "best"), "of its own, so --take would have no effect"),
    (("grade", "--demo", "--due", "2026-11-20", "--late", "5", "--resume"), "--resume, --due, --late would have no"),
    (("grade", "--demo", "--roster", "r.csv", "--again", "x", "--secret", "s"), "--again, --roster, --secret would"),
    (("grade", "--demo", "--late-most", "5", "--gradescope", "r"), "so --late-most, --gradescope would have no effect"),
    (("grade", "--demo", "--sandbox", "none"), "Add --i-trust-submissions to go on nevertheless"),
    (("grade", "04", "folder", "--late", "5"), "nobody is late without a deadline, so --late would have no effect"),
    (("grade", "04", "folder", "--late-most", "5"), "so --late-most would have no effect; add --due"),
    (("volunteer", "status", "http://127.0.0.1:1"), "(Connection refused); is the server running?"),
]


@pytest.mark.parametrize(("words", "advice"), IGNORED, ids=lambda it: " ".join(it) if isinstance(it, tuple) else "")
def test_what_would_be_ignored_or_lost_is_refused(words, advice, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, text = said(words, monkeypatch, capsys)
    assert code == 1
    assert advice in text
    assert not PYTHON.search(text), text
    assert "[Errno" not in text
    assert not list(tmp_path.iterdir())


def pressed(*args, **kwargs):
    raise KeyboardInterrupt


STUDIES = [  # a command, what Ctrl-C is pressed in, and what was done before
    (("distbelief",), "dlmini.studies.distbelief.study.choices_of", "distbelief.md", "One network on several machines"),
    (
        ("volunteer", "demo", "--part", "delivery,dispatch", "--iterations", "2"),
        "dlmini.studies.volunteers.sweeps.by_deadline",
        "volunteers.md",
        "Virtual machine against container",
    ),
]


@pytest.mark.parametrize(("words", "where", "file", "done"), STUDIES, ids=lambda it: it[0] if type(it) is tuple else "")
def test_ctrl_c_ends_a_study_with_what_is_done(words, where, file, done, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(where, pressed)
    code, text = said((*words, "--out", str(tmp_path / "out")), monkeypatch, capsys)
    assert code == 130
    assert "stopped by hand" in text
    assert done in (tmp_path / "out" / file).read_text("utf-8")


@pytest.mark.parametrize(("words", "where"), [((*words, "--out"), where) for words, where, *_ in STUDIES[:1]])
def test_ctrl_c_before_anything_is_done_writes_nothing(words, where, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("dlmini.studies.distbelief.study.gains_of", pressed)
    assert said((*words, str(tmp_path / "out")), monkeypatch, capsys)[0] == 130
    assert not list(tmp_path.iterdir())


def test_trainings_of_a_study_end_with_it_and_without_a_word(capfd):
    """Each process of `spread` is deaf to Ctrl-C, and ended by who hears it."""
    from dlmini.studies.classroom.many_runs import spread

    assert spread([(divmod, 7, 2), (divmod, 9, 2)], 2) == [(3, 1), (4, 1)]
    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        spread([(divmod, 7, 2), (divmod, 9, 2)], 2, pressed)
    assert set(multiprocessing.active_children()) <= before
    assert capfd.readouterr().err == ""


def test_a_volunteers_page_on_a_full_disk_goes_elsewhere_whole(monkeypatch, capsys, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    usual = files.write_folder

    def refuse(folder, contents):
        if folder.name == "out":
            raise OSError(errno.ENOSPC, f"{folder} could not be written: {os.strerror(errno.ENOSPC)}")
        return usual(folder, contents)

    monkeypatch.setattr(files, "write_folder", refuse)
    words = ("volunteer", "demo", "--part", "delivery", "--iterations", "2", "--out", str(tmp_path / "out"))
    code, text = said(words, monkeypatch, capsys)
    assert code == 0
    assert "No space left" in text
    assert (next(home.iterdir()) / "volunteers.md").is_file()


@pytest.mark.skipif(sys.platform != "linux", reason="only there is a fork server, and /proc")
def test_the_fork_server_is_born_deaf_to_ctrl_c():
    """It imports NumPy and kernels for a second or more, and would print a traceback."""
    script = (
        "from dlmini.comm.processes.workers.start import prepare\nprepare()\n"
        "from multiprocess import forkserver\npid = forkserver._forkserver._forkserver_pid\n"
        "print(next(line for line in open(f'/proc/{pid}/status') if line.startswith('SigBlk')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[1], 16) & 1 << (signal.SIGINT - 1)


@pytest.mark.skipif(os.name != "posix", reason="Windows sends signals otherwise")
def test_a_run_whose_result_is_waited_for_is_not_over_because_of_ctrl_c():
    """Python before 3.13 takes a thread for ended whose `join` was interrupted; the run would be cut off, not ended."""
    gate = threading.Event()

    class Held:
        size, virtual = 1, True

        def run(self, program, args=(), listen=None, control=None, may_die=(), may_return=()):
            gate.wait()
            return Simulated(1).run(program, args, listen, control, may_die, may_return)

    task = Classify(softmax_regression(input=(2,), classes=2), blobs(40, 2, 2), blobs(20, 2, 2, seed=1), 5)
    run = train(task, Recipe(rounds=2), Held())
    main = threading.main_thread().ident
    press = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))

    def waits():
        press.start()
        run.result()

    with pytest.raises(KeyboardInterrupt):
        waits()
    assert not run.over
    gate.set()
    assert run.result().stopped
    assert run.over


@pytest.mark.skipif(os.name != "posix", reason="a folder in which somebody is cannot be deleted there")
@pytest.mark.parametrize(
    "words", [("update",), ("check", "00"), ("changes",), ("train", "--epochs", "1", "--save", "x")]
)
def test_who_stands_in_a_folder_that_is_gone_is_told_so(words, monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, text = said(words, monkeypatch, capsys)
    assert (code, text) == (
        1,
        "error: the folder in which you are is there no more; change to another one (cd), and try again",
    )


def test_a_file_in_the_place_of_a_folder_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("mine")
    for words in (("course", "record", "03", "--into", "mine"), ("volunteer", "serve", "mine")):
        code, text = said(words, monkeypatch, capsys)
        assert (code, "mine is there already, as a file perhaps where a folder is needed" in text) == (1, True), text
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_port_that_is_taken_is_told_before_the_course_is_made(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as other:
        code, text = said(("lab", "--port", str(other.getsockname()[1])), monkeypatch, capsys)
    assert (code, "cannot be used (Address already in use); choose others" in text) == (1, True), text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("answer", [b"{}", b"[]", b"3", b'{"iteration": 1}', b"<html>"])
def test_a_server_of_somebody_else_is_no_project(answer, monkeypatch, capsys):
    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Foreign) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        code, text = said(("volunteer", "status", f"http://127.0.0.1:{server.server_port}/"), monkeypatch, capsys)
        server.shutdown()
        thread.join()
    assert (code, "answers, but not as a project does" in text) == (1, True), text
    assert not PYTHON.search(text)
