"""What other systems lack, imitated: few handles to wait for, a memory without order, processes that hide."""

import cloudpickle
import multiprocess
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multiprocess import connection

from dlmini.comm.processes import Processes
from dlmini.comm.processes import segment as shared
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.plain import waiting_and_sums as plain
from dlmini.comm.processes.workers import wait_many as handles
from dlmini.comm.processes.workers.pool import Pool
from dlmini.comm.processes.workers.protocol import Returned


@pytest.fixture
def few(monkeypatch):
    """A system that waits for at most so many at once, as Windows does."""

    def limit(most):
        real = connection.wait

        def wait(signs, timeout=None):
            if len(signs) > most:
                raise ValueError(f"need at most {most} handles, got a sequence of length {len(signs)}")
            return real(signs, timeout)

        monkeypatch.setattr(connection, "wait", wait)
        monkeypatch.setattr(handles, "MOST", most)

    return limit


def test_any_of_many_pipes_is_heard_whatever_group_it_is_in(few):
    few(4)
    pipes = [multiprocess.Pipe(duplex=False) for _ in range(14)]
    readers = [reader for reader, _ in pipes]

    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(st.sets(st.integers(0, 13)))
    def heard(speakers):
        for one in speakers:
            pipes[one][1].send_bytes(b"!")
        found = handles.wait(readers, 60 if speakers else 0)
        assert [readers.index(reader) for reader in found] == sorted(speakers)
        for reader in found:
            reader.recv_bytes()

    heard()
    for end in (end for pipe in pipes for end in pipe):
        end.close()


def test_nothing_is_heard_when_the_time_is_over(few):
    few(1)
    pipes = [multiprocess.Pipe(duplex=False) for _ in range(3)]
    assert handles.wait([reader for reader, _ in pipes], 0.01) == []
    for end in (end for pipe in pipes for end in pipe):
        end.close()


def test_a_pool_larger_than_what_can_be_waited_for_runs_and_notices_a_death(few):
    few(3)  # the bell, and one rank's two signs
    pool = Pool(5)
    try:
        pool.run(cloudpickle.dumps((lambda comm: comm.rank, (), None, False)), lambda said: None, False, 60)
        assert pool.succeeded()
        assert all(isinstance(answer, Returned) for answer in pool.answers.values())
        assert pool.fit()
        pool.processes[4].kill()
        pool.processes[4].join()
        assert not pool.fit()
    finally:
        pool.end()


@pytest.mark.parametrize("kernels", ["numpy", "debug"])
def test_kernels_without_barriers_are_refused_where_memory_has_no_order(monkeypatch, kernels):
    monkeypatch.setenv("DLMINI_KERNELS", kernels)
    plain.check_order() if layout.X86 else None
    monkeypatch.setattr(layout, "X86", False)
    with pytest.raises(RuntimeError, match=f"DLMINI_KERNELS={kernels} has no memory barriers"):
        Processes(2)
    monkeypatch.setenv("DLMINI_KERNELS", "numba")
    plain.check_order()


def test_a_process_that_hides_from_us_is_not_taken_for_gone(monkeypatch, tmp_path):
    def hidden(pid):
        raise psutil.AccessDenied(pid)

    monkeypatch.setattr(shared.sys, "platform", "darwin")
    monkeypatch.setattr(psutil, "Process", hidden)
    monkeypatch.setattr(shared, "is_locked", lambda path: True)
    assert not shared.is_stale(tmp_path / "dlmini-1-2-3")
