"""Answers of a made-up class: right ones in many hands, nearly right ones, and such as wish the grader ill."""

from __future__ import annotations

VECTORISED = """
import numpy as np

def smoothed(x, width):
    return np.convolve(x, np.ones(width) / width, "valid")
"""
SUMS = """
import numpy as np

def smoothed(x, width):
    total = np.cumsum(np.concatenate([[0.0], x]))
    return (total[width:] - total[:-width]) / width
"""
LOOPS = """
import numpy as np

def smoothed(x, width):
    out = []
    for i in range(len(x) - width + 1):
        out.append(sum(x[i + j] for j in range(width)) / width)
    return np.array(out)
"""
HELPER = """
import numpy as np

def mean_of(part):
    print("a window of", len(part))
    return np.float64(part.mean())

def smoothed(x, width):
    '''Скользящее среднее.'''
    return np.array([mean_of(x[i : i + width]) for i in range(x.size - width + 1)])
"""
PASSED = """
def passed_on(comm, number):
    if comm.rank > 0:
        number = comm.recv(comm.rank - 1) + 1
    if comm.rank < comm.size - 1:
        comm.send(comm.rank + 1, number)
        return None
    return number
"""
CASES = """
def passed_on(comm, number):
    first, last = comm.rank == 0, comm.rank == comm.size - 1
    if not first:
        number = comm.recv(comm.rank - 1)
        number += 1
    if not last:
        comm.send(comm.rank + 1, number)
    return number if last else None
"""
RIGHT = [smooth + passed for smooth in (VECTORISED, SUMS, LOOPS, HELPER) for passed in (PASSED, CASES)]
NEARLY = {
    "the sum": VECTORISED.replace(" / width", "") + PASSED,
    "filled up": VECTORISED.replace('"valid"', '"same"') + PASSED,
    "one too few": LOOPS.replace(" - width + 1", " - width") + CASES,
    "changes its argument": "def smoothed(x, width):\n    x -= 0.5\n    return x\n" + PASSED,
    "nobody adds": VECTORISED + PASSED.replace(" + 1\n    if", "\n    if"),
    "everybody waits": SUMS
    + PASSED.replace("if comm.rank > 0:", "if True:").replace("comm.rank - 1)", "(comm.rank - 1) % comm.size)"),
    "only half is done": HELPER,
    "a typing error": VECTORISED + "def passed_on(comm, number)\n    return number\n",
}
SMOOTH = "def smoothed(x, width):\n    "
HOSTILE = {
    "for ever": SMOOTH + "while True: pass\n" + PASSED,
    "all memory": "kept = []\n" + SMOOTH + "while True: kept.append(bytearray(1 << 26))\n" + PASSED,
    "forks": "import os\n" + SMOOTH + "while True:\n        try: os.fork()\n        except OSError: pass\n",
    "looks around": SMOOTH + "return open('/etc/passwd').read()\n" + PASSED,
    "calls home": "import socket\n" + SMOOTH + "return socket.create_connection(('example.org', 80), 1)\n" + PASSED,
}
