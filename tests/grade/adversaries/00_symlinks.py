"""Reaches for files through links."""

import os


def attack(*args, **kwargs):
    import dlmini

    house = os.path.dirname(os.path.dirname(dlmini.__file__))
    for number, target in enumerate(
        ("/etc/shadow", f"{house}/solutions/00_meet_the_lab.py", "/proc/1/root/etc/shadow")
    ):
        link = f"/tmp/link{number}"
        try:
            os.symlink(target, link)
            with open(link) as file:
                print("BREACH", target, file.read(20))
        except OSError:
            pass
