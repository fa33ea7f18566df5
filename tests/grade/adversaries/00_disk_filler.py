"""Fills every disk it may write to; says so if it got further than the limit."""

import os


def attack(*args, **kwargs):
    written = 0
    for folder in ("/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"), os.getcwd()):
        for number in range(200):
            try:
                with open(f"{folder}/BREACH{number}", "wb") as file:
                    for _ in range(100):
                        written += file.write(b"x" * (1 << 16))
                        file.flush()
            except OSError:
                break
    if written > 64 << 20:
        print("BREACH", written)
    return written
