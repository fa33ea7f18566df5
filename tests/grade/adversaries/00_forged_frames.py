"""Speaks the judge's own protocol: guesses, stale answers, an early end, and answers to questions not asked yet.

Takes two tests: the second one's question must not reach who was asked the first.
"""

import sys


def attack(*args, **kwargs):
    frame = sys._getframe()
    while "pipes" not in frame.f_locals:
        frame = frame.f_back
    pipes, case = frame.f_locals["pipes"], frame.f_locals["case"]
    for nonce in (b"", b"x" * 8, None, 7):
        pipes.say(nonce, "answer", [(0, 1)], [], "")
    pipes.say(case["nonce"], "over", 0, 0.0)
    while True:
        said = pipes.hear()
        if said is None:
            return
        if said[0] != "stop":
            pipes.say(said[0]["nonce"], "answer", [(0, 0)] * len(said[0]["calls"]), [], "BREACH: state survives a case")
