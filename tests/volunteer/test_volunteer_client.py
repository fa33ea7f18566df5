"""A real client and a real server: over TLS, and without a server."""

import json
import shutil
import ssl
import subprocess
import threading
from dataclasses import replace

import httpx
import numpy as np
import platformdirs
import psutil
import pytest
from test_volunteer_engine import final
from volunteer_servers import ONCE, SMALL, project

from dlmini.volunteer.client import Client
from dlmini.volunteer.engine import Engine
from dlmini.volunteer.limits import Limits
from dlmini.volunteer.names import KIND
from dlmini.volunteer.server import serve

FREE = Limits(ram=0, disk=0)


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    order = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    order += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", str(files[0]), "-keyout", str(files[1])]
    subprocess.run(order, check=True, capture_output=True)
    return files


def test_with_tls_a_client_works_if_it_trusts_the_certificate_and_not_otherwise(tmp_path, certificate, monkeypatch):
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    trust = ssl.create_default_context(cafile=str(certificate[0]))
    with project(tmp_path / "p", tls=certificate, verify=trust) as (url, engine):
        assert url.startswith("https")
        said = []
        Client(url, "safe", tmp_path / "safe", FREE, said.append, trust).stay(units=2)
        assert engine.it.done == 2
        stranger = Client(url, "careful", tmp_path / "careful", FREE, said.append)
        stranger.attempt(stranger.turn)
        assert "cannot be reached" in said[-1]
        assert "certificate" in said[-1].lower()
        with pytest.raises(httpx.TransportError):
            httpx.get(url.replace("https", "http") + "/work", trust_env=False).raise_for_status()


def test_a_client_that_was_stopped_in_a_unit_goes_on_with_it(tmp_path, monkeypatch):
    """Its token and the unit lie in its folder: no second host, no second copy."""
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    with project(tmp_path / "p") as (url, engine):
        first = Client(url, "same", tmp_path / "c", FREE, lambda said: None)
        first.introduce()
        unit = first.ask()
        again = Client(url, "same", tmp_path / "c", FREE, lambda said: None)
        assert again.stay(units=1) == 1
        assert len(engine.names) == 1
        assert engine.it.done == 1
        assert engine.store.digests(unit["unit"], {unit["copy"]})
        assert engine.it.counts["success"] == 1
    assert SMALL.units > 1


def patient(url, folder, most=3):
    """A client that leaves when it has complained too often: nobody waits for ever here."""
    said = []
    client = Client(url, "me", folder, FREE, lambda text: (said.append(text), len(said) > most and client.stop()))
    return client, said


def test_a_client_whose_training_leaves_the_numbers_reports_that_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    wild = replace(SMALL, model="mlp", optimizer="sgd", rate=1e18, steps=8)
    with project(tmp_path / "p", wild) as (url, engine), np.errstate(all="ignore"):
        client, said = patient(url, tmp_path / "c")
        assert client.stay(units=2) == 2
        assert said == []
        assert engine.it.counts["error"] == 2
        assert "no finite numbers; its rate may be too high" in engine.news.lines()[0]


@pytest.mark.parametrize("when", ["at rest", "before a unit", "with an answer in hand"])
def test_a_client_takes_up_the_project_that_stands_in_the_place_of_its_own(tmp_path, monkeypatch, when):
    """Another token, other work: nothing of the project that is gone may go on."""
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    other = replace(SMALL, seed=5, steps=2, iterations=1)
    with project(tmp_path / "old") as (url, _), project(tmp_path / "new", other) as (now, engine):
        client, said = patient(url, tmp_path / "c")
        client.introduce()
        if when != "at rest":
            unit = client.ask()
        if when == "with an answer in hand":
            trained = client.train(unit)
            monkeypatch.setattr(client, "train", lambda unit: (monkeypatch.undo(), trained)[1])
        client.http.base_url = now
        client.stay()
        assert ["401" in text or "not known here" in text for text in said] == [True, False]
        assert np.array_equal(final(engine), other.alone())


ANY = ("<html>", "[]", "{}", "[" * 5000)
FOREIGN = {"/join": (*ANY, '{"token": 7}'), "/work": ANY, "/ask": (*ANY, '{"unit": "x"}'), "/weights/0": ANY}


@pytest.mark.parametrize("path", FOREIGN)
def test_what_no_project_says_is_waited_out(tmp_path, monkeypatch, path):
    """The page of a wireless network answers everything, and with 200; or a kept unit is JSON, and none."""
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    pages, rests = list(FOREIGN[path]), []
    with project(tmp_path / "server") as (url, engine):
        client = Client(url, "one", tmp_path / "one", FREE, rests.append)
        true = client.http.request

        def answered(verb, asked, **more):
            if asked == path and pages:
                return httpx.Response(200, text=pages.pop(), request=httpx.Request(verb, url))
            return true(verb, asked, **more)

        monkeypatch.setattr(client.http, "request", answered)
        monkeypatch.setattr(client.ended, "wait", lambda seconds: False)
        client.remember("unit.json", {"unit": 1})
        client.stay(units=2)
        assert engine.it.done == 2
    assert not pages
    assert len(rests) == len(FOREIGN[path])


def bad_pairs(certificate, folder):
    """What somebody may give in the place of a certificate and its key."""
    public, key = certificate
    empty, text, other, locked = (folder / name for name in ("empty.pem", "text.pem", "other.pem", "locked.pem"))
    empty.write_bytes(b"")
    text.write_text("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    subprocess.run(["openssl", "genrsa", "-out", str(other), "2048"], check=True, capture_output=True)
    order = ["openssl", "rsa", "-aes256", "-passout", "pass:x", "-in", str(key), "-out", str(locked)]
    subprocess.run(order, check=True, capture_output=True)
    yield from ((empty, key), (text, key), (public, empty), (public, other), (key, public), (public, locked))
    yield public, folder


def test_tls_files_that_do_not_fit_are_refused_before_an_address_is_shown(tmp_path, certificate):
    shown = []
    for pair in bad_pairs(certificate, tmp_path):
        engine = Engine(tmp_path / "p", SMALL)
        with pytest.raises(OSError, match=r"are no TLS certificate and its key") as told:
            serve(engine, "127.0.0.1", 0, pair, shown.append)
        assert str(pair[1]) in str(told.value)
    assert not shown


def test_volunteers_of_one_machine_keep_to_so_many_cores_and_not_all_to_the_same(monkeypatch):
    bound = []

    class Process:
        def cpu_affinity(self, cores=None):
            return [0, 2, 3, 5] if cores is None else bound.append(cores)

    monkeypatch.setattr(psutil, "Process", Process)
    for _ in range(60):
        Limits(cores=2).keep_to_cores()
    assert all(len(set(cores)) == 2 for cores in bound)
    assert {core for cores in bound for core in cores} == {0, 2, 3, 5}  # missed by chance once in 10^17
    Limits(cores=9).keep_to_cores()
    assert sorted(bound[-1]) == [0, 2, 3, 5]


def together(clients):
    """Both at work at one time: none begins its second unit before the other has begun its first."""
    threads = [threading.Thread(target=one.stay) for one in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


@pytest.mark.parametrize("quorum", [1, 2])
def test_two_volunteers_of_one_machine_and_name_are_two_hosts(tmp_path, monkeypatch, quorum):
    """Without folders of their own they would share one: its token, and the unit under way."""
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    terms, begun, train = replace(ONCE, quorum=quorum, target=quorum, max_success=3), threading.Barrier(2), Client.train

    def slow(self, unit):
        if self.done == 0:
            begun.wait(60)
        return train(self, unit)

    monkeypatch.setattr(Client, "train", slow)
    said = []
    with project(tmp_path / "p", terms=terms) as (url, engine):
        together([Client(url, "same", None, FREE, said.append) for _ in range(2)])
        assert len(engine.names) == 2
        assert engine.finished
        assert all(host.good > 0 and host.bad == 0 for host in engine.it.hosts.values())
        assert np.array_equal(final(engine), SMALL.alone())
    tokens = [json.loads(file.read_text())["token"] for file in (tmp_path / "cache").rglob("token.json")]
    assert len({*tokens}) == 2
    assert {*said} == {"the project is finished; thank you"}


def test_a_folder_that_another_volunteer_has_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    with project(tmp_path / "p") as (url, engine):
        first, second = (Client(url, "same", tmp_path / "c", FREE) for _ in range(2))
        with first.own_folder(), pytest.raises(OSError, match=r"another volunteer works in .*c; name another folder"):
            second.stay()
        assert second.stay(units=1) == 1
        assert len(engine.names) == 1
    (tmp_path / "d" / "volunteer.lock").mkdir(parents=True)
    with pytest.raises(OSError, match=r"volunteer.lock cannot be written \(.*\); mend its folder"):
        Client(url, "same", tmp_path / "d", FREE).stay()


def test_who_joins_a_finished_project_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    said = []
    with project(tmp_path / "p") as (url, engine):
        Client(url, "first", tmp_path / "a", FREE).stay()
        assert Client(url, "late", tmp_path / "b", FREE, said.append).stay() == 0
        assert engine.finished
    assert said == ["the project is finished; thank you"]


def test_compiled_kernels_and_numpys_make_hosts_of_two_kinds(tmp_path, monkeypatch):
    """They add up in another order: their bits differ, and neither lies."""
    monkeypatch.setattr(Limits, "keep_to_cores", lambda self: None)
    with project(tmp_path / "p") as (url, engine):
        for mode in ("numpy", "numba"):
            monkeypatch.setenv("DLMINI_KERNELS", mode)
            Client(url, mode, tmp_path / mode, FREE, print).introduce()
        kinds = [host.kind for host in engine.it.hosts.values()]
    assert [kind.split()[-1] for kind in kinds] == ["numpy", "numba"]
    assert all(KIND.fullmatch(kind) for kind in kinds)
