"""How the key of a run comes to other hosts: by ssh, as a file that its owner alone may read, while ranks start.

    python key_file.py NAME        the key comes by standard input; `left` is said when it lies in the file NAME

What mpiexec hands on to other hosts passes the network as it is, and a command line is there for all to see; ssh keeps
a secret, and Mpi's hosts are reached by it anyway. Standard input is a leash, as the guard's is: when it ends (all
ranks have come; the notebook was interrupted, or killed), the file is removed. Run by its path: it imports nothing of
the house, so it starts at once.
"""

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress

AGENTS = ("PRTE_MCA_plm_ssh_agent", "OMPI_MCA_plm_rsh_agent", "HYDRA_LAUNCHER_EXEC")  # what mpiexec takes for ssh
LEFT = b"left\n"


class Deposits:
    """The key on all hosts, until `close`. RuntimeError if one cannot be reached within `patience` seconds."""

    def __init__(self, hosts: list[str], name: str, key: bytes, patience: float):
        self.there = {host: subprocess.Popen(command(host, name), **PIPES) for host in dict.fromkeys(hosts)}
        late = threading.Timer(patience, self._kill)
        late.start()
        try:
            for process in self.there.values():
                self._hand(process, key)
            for host, process in self.there.items():
                self._wait(host, process)
        except BaseException:
            self._kill()
            self.end()
            raise
        finally:
            late.cancel()

    def _hand(self, process: subprocess.Popen, key: bytes) -> None:
        with suppress(OSError):  # it has ended, which is found out in _wait
            process.stdin.write(key.hex().encode() + b"\n")
            process.stdin.flush()

    def _wait(self, host: str, process: subprocess.Popen) -> None:
        if process.stdout.readline() != LEFT:
            words = process.stderr.read().decode(errors="replace").strip() or "no answer"
            raise RuntimeError(f"the key of this run could not be brought to {host} ({words}); does `ssh {host}` work?")

    def _kill(self) -> None:
        for process in self.there.values():
            process.kill()

    def close(self) -> None:
        """The files are removed; this does not wait for it."""
        for process in self.there.values():
            with suppress(OSError):
                process.stdin.close()

    def end(self, patience: float = 2.0) -> None:
        """Close, and wait until nothing of it is left here."""
        self.close()
        for process in self.there.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience)
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()


PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"start_new_session": True}


def command(host: str, name: str) -> list[str]:
    """Here by itself; elsewhere through what mpiexec would take, which is ssh unless it was told otherwise."""
    words = [sys.executable, "-I", os.path.abspath(__file__), name]
    if is_here(host):
        return words
    agent = next((os.environ[variable] for variable in AGENTS if variable in os.environ), "ssh")
    return [*shlex.split(agent.split(":")[0]), host, shlex.join(words)]


def is_here(host: str) -> bool:
    """Is it one of this machine's own addresses? Only those can be bound."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((socket.gethostbyname(host), 0))
        return True
    return False


def path_of(name: str) -> str:
    return os.path.join(tempfile.gettempdir(), name)


def read(name: str) -> bytes:
    """The key that was left here."""
    try:
        with open(path_of(name), encoding="ascii") as file:
            return bytes.fromhex(file.read())
    except FileNotFoundError:
        raise RuntimeError(
            f"the key of this run, {path_of(name)}, is not on {socket.gethostname()}: was it named in hosts=?"
        ) from None


def main(name: str) -> None:
    key = sys.stdin.readline()
    path, mine = path_of(name), path_of(f"{name}-{os.getpid()}")
    descriptor = os.open(mine, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(key.strip())
        os.replace(mine, path)
        sys.stdout.buffer.write(LEFT)
        sys.stdout.flush()
        while sys.stdin.read(1024):
            pass
    finally:
        for left in (mine, path):
            with suppress(FileNotFoundError):
                os.unlink(left)


if __name__ == "__main__":
    main(sys.argv[1])
