"""Hand-ins of every strange kind, drawn by a coin: archives, folders, texts and notebooks that no honest hand makes.

Each family is a function of a coin, `random.Random`: what is handed in differs from draw to draw, the family stays.
"""

import io
import json
import os
import socket
import stat
import struct
import zipfile

STEM = "00_meet_the_lab"
FILE = f"{STEM}.py"
PLAIN = "def shard(n, size, rank):\n    return 0, 0\n"


def zipped(members, method=zipfile.ZIP_DEFLATED):
    """members: (name or ZipInfo, data) pairs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def renamed(data, old, new, utf8=None):
    """The archive with one name put in the place of another of the same length, in bytes; utf8: what its flag says."""
    data, at = bytearray(data.replace(old, new)), 0
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = -1
        while utf8 is not None and (at := data.find(signature, at + 1)) >= 0:
            word = struct.unpack_from("<H", data, at + flags)[0]
            struct.pack_into("<H", data, at + flags, word | 0x800 if utf8 else word & ~0x800)
    return bytes(data)


# ---- archives ----


def named_nothing(coin):
    name = coin.choice([".", "./", "././.", "/", "//", "\\", ""])
    return zipped([("x", "x"), (zipfile.ZipInfo(name), "a = 1")])


def named_outside(coin):
    name = coin.choice(["../{}", "/etc/{}", "a/../../{}", "..\\{}", "C:\\{}", "\\\\server\\{}", "a/..", "//{}/.."])
    return zipped([(name.format(FILE), PLAIN)])


def damaged(coin):
    """The compressed data of an honest archive, changed in a few places."""
    text = "".join(coin.choice("abcdefghij \n") for _ in range(4000))
    data = bytearray(zipped([(FILE, text)]))
    for _ in range(coin.randint(1, 20)):
        data[coin.randint(60, 1500)] = coin.randrange(256)
    return bytes(data)


def cut_off(coin):
    data = zipped([(FILE, PLAIN * 50), ("notes.txt", "x" * 100)])
    return data[: coin.randint(1, len(data) - 1)]


def lying_headers(coin):
    """Sizes, offsets, counts and lengths in the directory of an archive, each replaced by something else."""
    data = bytearray(zipped([(FILE, PLAIN), ("b.txt", "x" * 1000)]))
    central, end = data.find(b"PK\1\2"), data.find(b"PK\5\6")
    for _ in range(coin.randint(1, 4)):
        at = coin.choice([*range(central + 4, central + 46), *range(end + 4, end + 22)])
        data[at] = coin.randrange(256)
    return bytes(data)


def no_utf8(coin):
    """Names that claim to be UTF-8 and are bytes of anything."""
    data = zipped([("x" * 12 + FILE, PLAIN)])
    raw = bytes(coin.choice(range(128, 256)) for _ in range(12))
    return renamed(data, b"x" * 12, raw, utf8=True)


def long_names(coin):
    part = coin.choice("xяж") * coin.randint(256, 3000)
    return zipped([(f"{part}/{part}/{FILE}.txt", "x"), (f"{part}.py", PLAIN), (f"{part}2.py", PLAIN)])


def bomb(coin):
    """A few kilobytes that become gigabytes: zips in zips of zeros, programs, or more zips."""
    inner = zipped(
        [(f"{i}.{coin.choice(['py', 'zip', 'txt'])}", b"\0" * (coin.randint(8, 32) << 20)) for i in range(3)]
    )
    for _ in range(coin.randint(1, 4)):
        inner = zipped([(f"{i}.zip", inner) for i in range(coin.randint(4, 16))])
    return inner


def a_large_program(coin):
    return zipped([(FILE, coin.choice([b"#", b"\n", b"x = 1\n"]) * (40 << 20))])


def crowded(coin):
    return zipped([(f"{i}", "") for i in range(coin.randint(50_001, 55_000))], zipfile.ZIP_STORED)


def deep_paths(coin):
    return zipped([("a/" * coin.randint(40, 3000) + FILE, PLAIN)])


def no_files(coin):
    info = zipfile.ZipInfo(FILE)
    info.external_attr = coin.choice([stat.S_IFLNK | 0o777, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK]) << 16
    return zipped([(info, "/etc/passwd")])


def encrypted(coin):
    data = bytearray(zipped([(FILE, PLAIN)]))
    data[6] |= 1
    data[data.rfind(b"PK\1\2") + 8] |= 1
    return bytes(data)


def strange_methods(coin):
    data, method = bytearray(zipped([(FILE, PLAIN)])), coin.choice([1, 6, 9, 12, 14, 93, 95, 97, 98, 99])
    for signature, at in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        struct.pack_into("<H", data, data.find(signature) + at, method)
    return bytes(data)


def nonsense(coin):
    return coin.choice([b"PK\3\4", b"PK\5\6", b"", b"Rar!\x1a\7"]) + coin.randbytes(coin.randint(0, 3000))


ARCHIVES = [
    *(named_nothing, named_outside, damaged, cut_off, lying_headers, no_utf8, long_names, bomb, a_large_program),
    *(crowded, deep_paths, no_files, encrypted, strange_methods, nonsense),
]


# ---- texts ----


def strange_encoding(coin):
    names = ["unicode_escape", "raw_unicode_escape", "utf-7", "idna", "punycode", "undefined", "rot13", "hex", "zlib"]
    names += ["base64", "utf-16", "utf-32", "cp037", "\ud800", "latin-1;", "x" * 300]
    body = b"x = '\\ud800'\n" + coin.randbytes(100).replace(b"\n", b"")
    return b"# coding: " + coin.choice(names).encode("utf-8", "surrogatepass") + b"\n" + body


def no_text(coin):
    half = "x = '\ud800'\n".encode("utf-16", "surrogatepass")
    return coin.choice(
        [half, b"\xff\xfe\x00", PLAIN.encode() + b"\0", coin.randbytes(2000), b"\xef\xbb\xbf\xef\xbb\xbf"]
    )


def too_much_for_a_compiler(coin):
    deep = coin.randint(2_000, 60_000)
    opening, closing = coin.choice(
        [("(", ")"), ("[", "]"), ("-", "1"), ("not ", "1"), ("lambda: ", "0"), ("a.", "b"), ("1+", "1"), ("f(", ")")]
    )
    text = "x = " + opening * deep + closing * (deep if closing in ")]" else 1)
    return f"{PLAIN}\n{text[: 250 << 10]}\n".encode()


def deep_blocks(coin):
    rows = [
        " " * i + coin.choice(["if 1:", "def f():", "class A:", "for i in x:"]) for i in range(coin.randint(90, 600))
    ]
    return "\n".join([PLAIN, *rows, " " * len(rows) + "pass"]).encode()


def huge_literals(coin):
    length = coin.randint(10_000, 200_000)
    form = coin.choice(
        ["x = " + "9" * length, "x = 0x" + "f" * length, "x = '" + "y" * length + "'", "x = 1e" + "9" * 300]
    )
    return f"{PLAIN}\n{form}\n".encode()


def separators(coin):
    """Line ends that only some think are line ends, and letters that change direction."""
    letters = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\u202e\u200b\ufeff\r"
    rows = [f"# {coin.choice(letters)}{coin.choice(letters)}" for _ in range(20)]
    return "\n".join([*rows, PLAIN, *rows]).encode()


TEXTS = [strange_encoding, no_text, too_much_for_a_compiler, deep_blocks, huge_literals, separators]


# ---- notebooks ----


def book(*sources):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def nested_json(coin):
    deep = coin.randint(2_000, 200_000)
    left, right = coin.choice([("[", "]"), ('{"a":', "}")])
    inner = left * deep + "1" + right * deep
    return coin.choice([inner, f'{{"cells": {inner}}}', f'{{"cells": [], "metadata": {inner}}}']).encode()


def half_letters(coin):
    half = coin.choice(["\ud800", "\udfff", "\ude00\ud83d", "a\ud83d"])
    return json.dumps(book(f"x = '{half}'\n{PLAIN}", f"# {half}")).encode()


def strange_shapes(coin):
    odd = [None, 1, "x", [], {}, [[]], {"cells": None}, True, -1.5]
    cell = {"cell_type": coin.choice(["code", 1, None]), "source": coin.choice([*odd, PLAIN, [1, None], [["x"]]])}
    cell |= {"metadata": coin.choice(odd), "outputs": coin.choice(odd)}
    data = {"cells": coin.choice([[cell], [cell, *odd], cell, *odd]), "worksheets": coin.choice(odd)}
    return json.dumps(coin.choice([data, odd])).encode()


def strange_numbers(coin):
    number = coin.choice(["1e999", "NaN", "-Infinity", "9" * 100_000, "1" + "0" * 5000])
    return json.dumps(book(PLAIN)).encode()[:-1] + f', "x": {number}}}'.encode()


def cells_for_a_compiler(coin):
    text = too_much_for_a_compiler(coin).decode()
    return json.dumps(book(text, PLAIN, "x = (" + text, "def f(:\n" * coin.randint(10, 5_000))).encode()


def broken_json(coin):
    data = bytearray(json.dumps(book(PLAIN, "x = 1")).encode())
    for _ in range(coin.randint(1, 5)):
        data[coin.randrange(len(data))] = coin.randrange(256)
    return bytes(data)


NOTEBOOKS = [nested_json, half_letters, strange_shapes, strange_numbers, cells_for_a_compiler, broken_json]


# ---- folders, where the system has them: each fills a place that is not there yet ----


def link(place, coin):
    place.mkdir()
    (place / FILE).symlink_to(coin.choice(["/etc/passwd", "/dev/zero", FILE, "/nowhere", "../../.."]))


def link_for_a_folder(place, coin):
    place.symlink_to(coin.choice(["/etc", "/proc/self", "/", "/nowhere", place.name]))


def pipe(place, coin):
    place.mkdir()
    os.mkfifo(place / coin.choice([FILE, "solution.py", "a.zip", "x.ipynb"]))


def pipe_for_a_folder(place, coin):
    os.mkfifo(place)


def door(place, coin):
    """A socket."""
    place.mkdir()
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(place, os.O_RDONLY)
        made.bind(f"/proc/self/fd/{here}/{FILE}")
        os.close(here)


def empty(place, coin):
    place.mkdir()
    for _ in range(coin.randint(0, 3)):
        (place / f"folder{coin.randint(0, 9)}").mkdir(exist_ok=True)


def without_an_end(place, coin):
    """A program with more bytes than there is memory, none of them on the disk."""
    place.mkdir()
    with (place / coin.choice([FILE, f"{STEM}.ipynb"])).open("wb") as file:
        file.truncate(coin.randint(1 << 30, 1 << 40))


def down_and_down(place, coin):
    place.mkdir()
    here = place
    for _ in range(coin.randint(40, 900)):
        here = here / "a"
    os.makedirs(here)
    (here / FILE).write_text(PLAIN)


def wild_names(place, coin):
    place.mkdir()
    for _ in range(5):
        name = coin.randbytes(coin.randint(1, 60)).replace(b"/", b"").replace(b"\0", b"") or b"x"
        with open(os.path.join(os.fsencode(place), name + coin.choice([b"", b".py", b"\n.py"])), "wb") as file:
            file.write(coin.randbytes(50))


def another_kind_of_file(place, coin):
    place.mkdir()
    for name in coin.sample(["report.pdf", "work.rar", "work.tar.gz", "a.docx", "photo.jpg", f"{STEM}.pyc"], 3):
        (place / name).write_bytes(coin.randbytes(500))


FOLDERS = [link, link_for_a_folder, pipe, pipe_for_a_folder, door, empty, without_an_end, down_and_down]
FOLDERS += [wild_names, another_kind_of_file]


def hand_in(family, folder, name, coin):
    """Let a draw of a family lie in a class folder under this name."""
    if family in FOLDERS:
        return family(folder / name, coin)
    if family in ARCHIVES:
        return (folder / f"{name}.zip").write_bytes(family(coin))
    (folder / name).mkdir()
    return (folder / name / (FILE if family in TEXTS else f"{STEM}.ipynb")).write_bytes(family(coin))


FAMILIES = [*ARCHIVES, *TEXTS, *NOTEBOOKS, *(FOLDERS if os.name == "posix" else [])]
