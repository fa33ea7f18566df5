"""The doctor visits several machines: by a stand-in for ssh on this one, and between network namespaces."""

import json
import re
import socket
import stat
import subprocess
import sys
import time

import psutil
import pytest

from dlmini.comm.classroom.greeting import hello
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.host_file import read_hosts
from dlmini.comm.mpi.mpiexec import missing
from dlmini.commands.doctor import matrix
from dlmini.doctor import host_probe, hosts
from dlmini.doctor.finding import BROKEN, GOOD, WARNING
from dlmini.doctor.hosts import Link
from dlmini.studies import hosts as namespaces

AGENT = """#!/bin/sh
# agent [options] HOST COMMAND: this machine under another name, as ssh would; some names are out of order
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
case $host in
  pc-refused) echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255 ;;
  pc-bare) exec sh -c "PYTHONPATH= $(echo "$*" | sed 's/ -c / -S -c /')" ;;
esac
export SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22"
exec sh -c "$*"
"""


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    agent = tmp_path / "agent"
    agent.write_text(AGENT)
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PRTE_MCA_plm_ssh_agent", str(agent))


# ---- host files ----


def test_a_host_file_is_read_as_open_mpi_reads_it(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("# a room\npc-1 slots=2\n\npc-2:3  # by the window\n10.0.0.7\npc-4 slots=1 max_slots=2\n")
    assert read_hosts(file) == ("pc-1:2", "pc-2:3", "10.0.0.7", "pc-4:1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no host"),
        ("# nothing\n", "names no host"),
        ("pc-1\npc 2\n", "line 2: 'pc 2' is no host"),
        ("-oProxyCommand=x\n", "line 1: .* is no host"),
        ("pc-1\npc-1\n", "pc-1 stands there twice; write pc-1:2"),
    ],
)
def test_what_is_no_host_file_is_told_by_line(tmp_path, text, words):
    file = tmp_path / "hosts"
    file.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_hosts(file)


@pytest.mark.skipif(bool(missing()), reason="no MPI")
def test_mpi_takes_a_host_file(tmp_path):
    (tmp_path / "hosts").write_text("a slots=2\nb slots=1\n")
    assert Mpi(3, hosts=tmp_path / "hosts").hosts == ("a:2", "b:1")
    with pytest.raises(FileNotFoundError):
        Mpi(3, hosts=tmp_path / "none")


# ---- judging ----

OURS = hello("here", "")


def said(lacks="", mpi="MPI 5", **changes):
    return {"host": "x", "python": "3.12.1", "lacks": lacks, "mpi": mpi, "hello": OURS._replace(**changes)._asdict()}


def even(*changed):
    """Three hosts on equal links, some of which are replaced."""
    plain = [Link(a, b, 1e-4, 1e8) for a in "abc" for b in "abc" if a != b]
    by_ends = {(link.sender, link.receiver): link for link in (*plain, *changed)}
    return list(by_ends.values())


SITUATIONS = [
    (hosts.reached("pc", 0.31), GOOD, "0.31 s"),
    (hosts.not_reached("pc", "Permission denied (publickey)."), BROKEN, "`ssh pc` must work without a password"),
    (hosts.versions("pc", said(), OURS, "MPI 5"), GOOD, f"dlmini {OURS.dlmini}"),
    (hosts.versions("pc", said(dlmini="0.0.1"), OURS, "MPI 5"), BROKEN, "pc has dlmini 0.0.1, this machine"),
    (hosts.versions("pc", said(python="3.9"), OURS, "MPI 5"), BROKEN, "pc runs Python 3.9, this machine"),
    (hosts.versions("pc", said(numpy="1.1.0"), OURS, "MPI 5"), BROKEN, 'pip install "numpy=='),
    (hosts.versions("pc", said(source="0"), OURS, "MPI 5"), WARNING, "copy the same files to all hosts"),
    (hosts.versions("pc", said(mpi="MPI 4"), OURS, "MPI 5"), BROKEN, "mpiexec here is MPI 5: install the same"),
    (hosts.versions("pc", said("Mpi needs mpi4py", ""), OURS, "MPI 5"), BROKEN, "Mpi needs mpi4py."),
    (hosts.versions("pc", said("no dlmini") | {"hello": None}, OURS, "x"), BROKEN, "at the same path as here"),
    (hosts.clock("pc", 0.0004, 0.0003), GOOD, "0.4 ms ahead (± 0.3)"),
    (hosts.clock("pc", -75.0, 0.001), WARNING, "75,000.0 ms behind"),
    (hosts.clock("pc", 1.5, 0.6), GOOD, "1,500.0 ms ahead"),  # that may be the line's fault
    (hosts.links(even())[-1], GOOD, "6, of 0.10 ms and 100 MB/s"),
    (hosts.links(even(Link("a", "b", 1e-4, 1.1e7)))[0], WARNING, "0.10 ms, 11 MB/s; usual 100 MB/s"),
    (hosts.links(even(Link("a", "b", 6e-4, 1e8)))[0], WARNING, "another cable"),
    (hosts.links(even(Link("a", "b", error="no connection")))[0], BROKEN, "Is a firewall on b?"),
    (*hosts.twins({"a": "pc", "b": "other", "c": "pc"}), BROKEN, "a and c both call themselves pc"),
]


@pytest.mark.parametrize(("finding", "status", "words"), SITUATIONS)
def test_each_situation_gets_its_status_and_its_advice(finding, status, words):
    assert finding.status == status
    assert words in f"{finding.found} {finding.fix}"
    assert bool(finding.fix) == (status != GOOD)


def test_without_links_nothing_is_said_of_them():
    assert hosts.links([]) == []
    assert [f.status for f in hosts.links([Link("a", "b", error="none")])] == [BROKEN]


# ---- visits ----


def by_check(findings):
    return {finding.check: finding for finding in findings}


def test_every_host_and_every_two_are_looked_at(ssh):
    findings, links = hosts.visit(["pc-a:2", "pc-b", "pc-refused", "pc-bare"])
    found = by_check(findings)
    assert found["pc-a: ssh"].status == found["pc-b: ssh"].status == GOOD
    assert found["pc-a: versions"].status == (BROKEN if missing() else GOOD), found["pc-a: versions"]
    assert found["pc-b: clock"].status == GOOD
    assert "Connection refused" in found["pc-refused: ssh"].found
    assert found["pc-bare: versions"].status == BROKEN
    assert "dlmini cannot be used there" in found["pc-bare: versions"].found
    assert {(link.sender, link.receiver) for link in links} == {
        (a, b) for a in ("pc-a", "pc-b", "pc-bare") for b in ("pc-a", "pc-b", "pc-bare") if a != b
    }
    assert all(not link.error and 0 < link.latency < 1 and link.bandwidth > 1e6 for link in links), links
    assert f"call themselves {socket.gethostname()}" in found["names"].found


def stopped(process: psutil.Process) -> list[psutil.Process]:
    """The process and those it has started, all stopped: one that stands still starts no more."""
    process.suspend()
    while process.status() != psutil.STATUS_STOPPED:
        time.sleep(0.001)
    return [process, *(member for child in process.children() for member in stopped(child))]


def test_a_host_that_says_nothing_is_given_up(ssh):
    host, family = hosts.Host("pc-a"), []
    try:
        family = stopped(psutil.Process(host.process.pid))
        with pytest.raises(hosts.Silent, match=r"no answer within 0\.1 s"):
            host.ask("clock", 0.1)
    finally:
        for member in family:
            member.kill()
        host.close()


def test_nothing_of_a_visit_stays_behind(ssh):
    host = hosts.Host("pc-a")
    assert host.ask("clock")["time"] > 1.7e9
    host.close()
    assert host.process.returncode == 0


def test_who_has_no_token_is_hung_up_on():
    port = host_probe.listen({"token": "right"})["port"]
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(b"wrong")
        assert link.recv(1) == b""
    found = host_probe.call({"addresses": ["127.0.0.1"], "port": port, "token": "right"})
    assert found["there"] > 0
    gone = host_probe.call({"addresses": ["127.0.0.1"], "port": port, "token": "right"})
    assert "127.0.0.1: " in gone["error"]


def test_two_hosts_that_cannot_call_each_other_are_named(ssh, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    one, other = hosts.Host("pc-a"), hosts.Host("pc-b")
    monkeypatch.setattr(other, "ask", lambda *_, **more: {"port": port, "addresses": ["127.0.0.1"]})
    try:
        (link,) = hosts.pair(one, other)
        assert "no connection" in link.error
        assert "127.0.0.1: Connection refused" in link.error
    finally:
        one.close()
        other.close()


def test_the_matrix_has_a_row_and_a_column_for_each_host(capsys):
    from rich.console import Console

    Console(width=100).print(matrix([Link("a", "b", 1e-4, 1e8), Link("b", "a", error="no connection")]))
    lines = capsys.readouterr().out.splitlines()
    assert any(re.search(r"│ a .*│ +│ 0\.10 ms, 100 MB/s", line) for line in lines), lines
    assert any(re.search(r"│ b .*│ none", line) for line in lines), lines


def test_the_command_says_what_is_broken_and_ends_so(ssh, tmp_path):
    (tmp_path / "hosts").write_text("pc-refused\n")
    words = [sys.executable, "-m", "dlmini", "doctor", "--hosts", str(tmp_path / "hosts")]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 1
    assert "Mend what is broken" in done.stdout
    assert "refused" in done.stdout


@pytest.mark.slow
def test_links_between_namespaces_have_the_rate_that_they_were_given(tmp_path):
    """Three hosts at 100 Mbit/s, 12.5 MB/s: some of it is headers, and a link's first bytes come in a burst."""
    if why := namespaces.unavailable():
        pytest.skip(why)
    script = tmp_path / "visit.py"
    script.write_text(
        "import json, sys\n"
        "from dlmini.doctor.hosts import visit\n"
        "findings, links = visit(sys.argv[2:])\n"
        "json.dump([findings, links], open(sys.argv[1], 'w'))\n"
    )
    with namespaces.hosts(3, tmp_path, "100mbit", "32kb") as on_first:
        on_first(script, tmp_path / "found.json", *namespaces.addresses(3))
    findings, links = json.loads((tmp_path / "found.json").read_text())
    assert len(links) == 6
    for sender, receiver, latency, bandwidth, error in links:
        print(f"{sender} to {receiver}: {latency * 1e3:.3f} ms, {bandwidth / 1e6:.2f} MB/s {error}")
        assert error == ""
        assert 9e6 < bandwidth < 14e6
    assert not any("call themselves" in found for _, _, found, _ in findings)
    assert all(status != BROKEN or missing() for _, status, _, _ in findings), findings
