"""Takes all memory there is, and does not give up when it is refused."""


def attack(*args, **kwargs):
    kept = []
    while True:
        try:
            kept.append(bytearray(1 << 26))
        except MemoryError:
            kept.append(len(kept))
