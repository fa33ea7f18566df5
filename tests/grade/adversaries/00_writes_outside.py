"""Writes wherever it can; nothing of it may be seen outside. Needs: bwrap or namespaces."""

import os


def attack(*args, **kwargs):
    import dlmini

    house = os.path.dirname(dlmini.__file__)
    for folder in (house, f"{house}/grade", f"{house}/..", "/", "/etc", "/usr", "/var", "/work", os.getcwd(), "/tmp"):
        try:
            with open(f"{folder}/BREACH", "w") as file:
                file.write("I was here")
        except OSError:
            continue
        if folder not in ("/tmp", os.getcwd()):
            print("BREACH", folder)
