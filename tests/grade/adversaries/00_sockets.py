"""Talks to the network: outside, on this machine, and through abstract sockets."""

import contextlib
import socket


def attack(*args, **kwargs):
    for place in (("1.1.1.1", 53), ("8.8.8.8", 443), ("127.0.0.1", 22), ("localhost", 8888)):
        try:
            with socket.create_connection(place, timeout=0.2):
                print("BREACH", place)
        except OSError:
            pass
    with contextlib.suppress(OSError):
        print("BREACH", socket.gethostbyname("example.org"))
