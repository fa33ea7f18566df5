"""Looks for other submissions, accounts and the judge's environment. Needs: bwrap."""

import glob
import os


def attack(*args, **kwargs):
    for pattern in ("/etc/passwd", "/etc/shadow", "/home/*", "/root/.ssh/*", "/root/.bash*", "/var/*", "/srv/*/tests"):
        for path in glob.glob(pattern):
            try:
                with open(path, "rb"):
                    print("BREACH", path)
            except IsADirectoryError:
                print("BREACH", path)
            except OSError:
                pass
    for path in ("/proc/1/environ", f"/proc/{os.getppid()}/environ"):
        try:
            with open(path, "rb") as file:
                said = file.read()
        except OSError:
            continue
        if b"SSH" in said or b"USER=" in said:
            print("BREACH", path)
    try:
        seen = os.listdir("/proc")
    except OSError:
        return
    for process in filter(str.isdigit, seen):
        if int(process) > 100_000:
            print("BREACH process", process)
