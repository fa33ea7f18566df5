"""Entries that try to get more than they pay for, and entries that are simply wrong."""

HONEST = """
import numpy as np

def recipe(terms):
    return {"sync": "local:2", "topology": "own", "compress": "own", "rounds": terms["steps"] // 2}

def mixing(size, t):
    K = np.zeros((size, size))
    for i in range(size):
        for j in (i, i, i + 1, i - 1):
            K[i, j % size] += 1 / 4
    return K

def say(update, seed):
    index = np.argsort(-np.abs(update))[: update.size // 16].astype(np.uint32)
    return index.tobytes() + update[index].tobytes()

def hear(message, size):
    half, vector = len(message) // 2, np.zeros(size, np.float32)
    vector[np.frombuffer(message[:half], np.uint32)] = np.frombuffer(message[half:], np.float32)
    return vector
"""

# name -> (what takes the place of which line, a word of the sentence that it gets; "" if it simply gains nothing)
WRONG = {
    "no dict": ('return {"sync"', 'return 3 or {"sync"', "it returns a dict"),
    "unknown word": ('"sync": "local:2"', '"sink": "local:2"', "it may name"),
    "unknown piece": ('"local:2"', '"now_and_then"', "there is no"),
    "too many steps": ('terms["steps"] // 2', 'terms["steps"]', "are allowed here"),
    "endless": ('return {"sync"', 'while True: pass\n    return {"sync"', "processor time"),
    "ends itself": ('return {"sync"', 'import os; os._exit(0)\n    return {"sync"', "ended without an answer"),
    "raises": ("half, vector =", "half, vector = 1 / 0 or", "ZeroDivisionError"),
    "wrong shape": ("return vector", "return vector[1:]", "vector of"),
    "not finite": ("return vector", "return vector * np.inf", "not finite"),
    "no bytes": ("return index.tobytes() +", "return [1, 2] or", "it returns bytes"),
    "longer than the update": ("return index.tobytes() +", "return bytes(5 * update.size) +", "more than the numbers"),
    "sums to two": ("+= 1 / 4", "+= 1 / 2", "sums to 2"),
    "no square": ("return K", "return 'K'", "square of numbers"),
    "rows of unequal lengths": ("return K", "return [[1], [1, 2]]", "square of numbers"),
    "complex numbers": ("return K", "return K + 0j", "square of numbers"),
    "words for numbers": ("return K", "return K.astype(str).tolist()", "square of numbers"),
    "cannot be read": ("def recipe(terms):", "def recipe(terms:", "line 4 def recipe(terms: ^ SyntaxError"),
    "writes to the judge's pipe": (
        'return {"sync"',
        'import sys\n    sys._getframe(1).f_locals["comm"]._tell_judge("send")\n    return {"sync"',
        "write to no pipe",
    ),
    "brackets without end": (
        '"compress": "own"',
        '"compress": "deflate:" + "deflate(" * 9000 + "int8" + ")" * 9000',
        "at most 200",
    ),
}

# Each of these would help if it worked: the library's data, other ranks' memory, another run's, free bytes.
CHEATS = {
    "reads the library's data": (
        "import numpy as np",
        "import numpy as np\nfrom dlmini import load\nlen(load('mnist'))",
    ),
    "opens the library's files": (
        "def say(update, seed):",
        "def say(update, seed):\n    import glob\n    assert glob.glob('/**/bundled/**', recursive=True)",
    ),
    "meets others in a file": (
        "def say(update, seed):",
        "def say(update, seed):\n    open('/tmp/all', 'ab').write(update.tobytes())",
    ),
    "meets others by network": (
        "def say(update, seed):",
        "def say(update, seed):\n    import socket\n    socket.create_server(('127.0.0.1', 0))",
    ),
    "meets others by locks of a file that all may read": (
        "def say(update, seed):",
        "def say(update, seed):\n    import fcntl\n    fcntl.lockf(open(np.__file__), fcntl.LOCK_SH)",
    ),
    "meets others by a note on a file that all may read": (
        "def say(update, seed):",
        "def say(update, seed):\n    import fcntl\n    fcntl.fcntl(open(np.__file__), 1036, (3).to_bytes(8, 'little'))",
    ),
    "drops pages of a file that all may read": (
        "def say(update, seed):",
        "def say(update, seed):\n    import os\n"
        "    os.posix_fadvise(open(np.__file__).fileno(), 0, 0, os.POSIX_FADV_DONTNEED)",
    ),
    "asks which pages of a file that all may read are in memory": (
        "def say(update, seed):",
        "def say(update, seed):\n    import os\n"
        "    os.preadv(open(np.__file__).fileno(), [bytearray(1)], 0, os.RWF_NOWAIT)",
    ),
}
LIAR = (
    "    return index.tobytes() + update[index].tobytes()",
    "    class Short(bytes):\n        def __len__(self):\n            return 1\n"
    "    return Short(index.tobytes() + update[index].tobytes())",
)
SILENT = (  # nothing is sent; what is heard is what this rank remembers of itself
    "    return index.tobytes() + update[index].tobytes()",
    "    global last\n    last = update\n    return b''",
)
COUNTING = (  # what is heard depends on how often one has heard: every time a little less
    "    half, vector = len(message) // 2, np.zeros(size, np.float32)",
    "    global calls\n    calls = globals().get('calls', 0) + 1\n"
    "    half, vector = len(message) // 2, np.zeros(size, np.float32)",
)
LESS = ("    return vector\n", "    return vector / np.float32(1 + calls / 100)\n")
LOTS = ("    return vector\n", "    import os\n    return vector * np.float32(os.urandom(1)[0] / 255)\n")
DEAF = ("    half, vector = len(message) // 2, np.zeros(size, np.float32)", "    return last\n    half, vector = 0, 0")


def changed(*swaps) -> str:
    """The honest entry with some lines replaced, each of which must be there."""
    text = HONEST
    for this, that in swaps:
        assert this in text
        text = text.replace(this, that, 1)
    return text
