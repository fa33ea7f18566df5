"""What `dlmini doctor --hosts` runs on every host. It comes by standard input: a Python is all that must be there.

Orders and answers are lines of JSON. `listen` opens a port for one caller who has the token; `call` calls it, on the
other host, and measures. When standard input ends, so does this. It imports nothing of the house before it is asked.
"""

import json
import os
import socket
import struct
import sys
import threading
import time

HEAD = struct.Struct("<cQ")  # what is wanted, and how many bytes
PINGS, REACH, PATIENCE = 30, 3.0, 20.0  # of 1 byte; seconds for a connection; seconds in all
LEAST, MOST, LONG = 1 << 16, 1 << 25, 0.05  # bytes of a stretch; it grows until it takes so many seconds
CHUNK = bytes(1 << 16)


def facts(order):
    """Who this is and what it runs; `lacks` is a sentence where something is missing."""
    found = {"host": socket.gethostname(), "python": sys.version.split()[0], "hello": None, "mpi": "", "lacks": ""}
    try:
        from dlmini.comm.classroom.greeting import hello
        from dlmini.comm.mpi.mpiexec import missing, mpiexec, version

        found["hello"] = hello(found["host"], "")._asdict()
        found["lacks"] = missing()
        if not found["lacks"]:
            found["mpi"] = next(iter(version(mpiexec()).splitlines()), "").strip()
    except Exception as error:
        found["lacks"] = f"dlmini cannot be used there ({type(error).__name__}: {error})"
    return found


def clock(order):
    return {"time": time.time()}


def listen(order):
    """A port, and where others may find it beside the host's own name."""
    door = socket.create_server(("", 0))
    threading.Thread(target=serve, args=(door, order["token"].encode()), daemon=True).start()
    return {"port": door.getsockname()[1], "addresses": addresses()}


def addresses():
    """How ssh came here, and what leads to the network; nothing is sent."""
    found = os.environ.get("SSH_CONNECTION", "").split()[2:3]
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("192.0.2.1", 9))  # an address for documentation, RFC 5737
        found.append(probe.getsockname()[0])
    except OSError:
        pass
    finally:
        probe.close()
    return found


def serve(door, token):
    """One caller; whoever has no token is hung up on."""
    end = time.monotonic() + PATIENCE
    with door:
        while time.monotonic() < end:
            door.settimeout(max(0.1, end - time.monotonic()))
            try:
                link, _ = door.accept()
            except OSError:
                return
            with link:
                try:
                    link.settimeout(REACH)
                    if taken(link, len(token)) == token:
                        link.settimeout(PATIENCE)
                        answer_all(link)
                        return
                except OSError:
                    pass


def answer_all(link):
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.sendall(b".")
    while True:
        kind, count = HEAD.unpack(taken(link, HEAD.size))
        if kind == b"q":
            return
        if kind == b"t":
            swallow(link, count)
            link.sendall(b".")
        else:
            pour(link, count)


def call(order):
    """Seconds of a message of a byte, one way; bytes a second there and back."""
    said = []
    for address in order["addresses"]:
        try:
            with socket.create_connection((address, order["port"]), REACH) as link:
                link.settimeout(PATIENCE)
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                link.sendall(order["token"].encode())
                if taken(link, 1) == b".":
                    return measured(link)
        except OSError as error:
            said.append(f"{address}: {error.strerror or error}")
    return {"error": "; ".join(said)}


def measured(link):
    trips = sorted(timed(link, b"b", 1) for _ in range(PINGS))
    trip = trips[len(trips) // 2]
    found = {"latency": trip / 2, "there": stretch(link, b"t", trip), "back": stretch(link, b"b", trip)}
    link.sendall(HEAD.pack(b"q", 0))
    return found


def stretch(link, kind, trip):
    """Bytes a second, of a stretch that is long enough to be timed."""
    count = LEAST
    while True:
        spent = max(timed(link, kind, count) - trip, 1e-9)
        if spent > LONG or count >= MOST:
            return count / spent
        count *= 8


def timed(link, kind, count):
    began = time.perf_counter()
    link.sendall(HEAD.pack(kind, count))
    if kind == b"t":
        pour(link, count)
        taken(link, 1)
    else:
        swallow(link, count)
    return time.perf_counter() - began


def pour(link, count):
    while count > 0:
        link.sendall(CHUNK[:count])
        count -= len(CHUNK)


def swallow(link, count):
    room = bytearray(len(CHUNK))
    while count > 0:
        got = link.recv_into(room, min(count, len(room)))
        if not got:
            raise OSError("the other end has hung up")
        count -= got


def taken(link, count):
    found = b""
    while len(found) < count:
        part = link.recv(count - len(found))
        if not part:
            raise OSError("the other end has hung up")
        found += part
    return found


def main():
    known = {"facts": facts, "clock": clock, "listen": listen, "call": call}
    for line in iter(sys.stdin.buffer.readline, b""):
        order = json.loads(line)
        try:
            said = known[order["do"]](order)
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
