"""A frame that claims to be longer than all memory, and one whose table lies."""

import os
import struct
import sys


def attack(*args, **kwargs):
    frame = sys._getframe()
    while "pipes" not in frame.f_locals:
        frame = frame.f_back
    out = frame.f_locals["pipes"].out
    os.write(out, struct.pack("<QQ", 2**62, 2**61))
    os.write(out, struct.pack("<QQ", 40, 30) + b"(" + struct.pack("<Q", 2**60) + b"a" * 31)
    return
