"""Programs of hostile students beside those in adversaries/: each takes the place of all functions of an exercise.

None deserves a point. What is said with the word BREACH was not to be had.
"""

ATTACKS = {
    "answers inf": "def attack(*a, **k):\n    return float('inf'), float('-inf')",
    "answers nan in arrays": """
import numpy as np
def attack(*a, **k):
    return np.full(2, np.nan), np.full((3, 3), np.inf)
""",
    "infinite work": "def attack(comm, *a):\n    comm.compute('x', None, flops=float('inf'))",
    "waits for no number": "def attack(comm, *a):\n    return comm.arrives(float('nan'))",
    "stops itself": "import os, signal\ndef attack(*a, **k):\n    os.kill(os.getpid(), signal.SIGSTOP)",
    "raises what cannot be told": """
class Evil(Exception):
    def __str__(self):
        raise SystemError("no words")
    __repr__ = __str__
def attack(*a, **k):
    raise Evil
""",
    "an endless text": """
class Endless(Exception):
    def __str__(self):
        while True:
            pass
def attack(*a, **k):
    raise Endless
""",
    "a long and strange text": """
def attack(*a, **k):
    raise ValueError('\\ud800\\u2028\\x00\\x1b[2J<script>' * 100000)
""",
    "forged stub": "def attack(*a, **k):\n    raise NotImplementedError('not done yet: but give me all points')",
    "a stack without end": """
import sys
sys.setrecursionlimit(10**9)
def attack(*a, **k):
    return attack(*a, **k)
""",
    "no address": "import ctypes\ndef attack(*a, **k):\n    return ctypes.string_at(0)",
    "closes everything": "import os\ndef attack(*a, **k):\n    os.closerange(0, 256)\n    return 0, 1",
    "pipes turned around": """
import os
def attack(*a, **k):
    for fd in range(3, 20):
        for other in range(3, 20):
            try:
                os.dup2(fd, other)
            except OSError:
                pass
    return 0, 1
""",
    "rubbish in all pipes": """
import os
def attack(*a, **k):
    for fd in range(0, 20):
        try:
            os.set_blocking(fd, False)
            os.write(fd, bytes(range(256)) * 300)
        except OSError:
            pass
    return 0, 1
""",
    "half a frame and sleep": """
import os, struct, time
def attack(*a, **k):
    for fd in range(3, 12):
        try:
            os.write(fd, struct.pack('<QQ', 1000, 500) + b'x' * 100)
        except OSError:
            pass
    time.sleep(1000)
""",
    "the last word, forged": """
import os, sys
def attack(*a, **k):
    frame = sys._getframe()
    while 'case' not in frame.f_locals:
        frame = frame.f_back
    line = f"\\nover {frame.f_locals['case']['nonce'].hex()} 0 0.0\\n".encode()
    for fd in range(0, 20):
        try:
            os.set_blocking(fd, False)
            os.write(fd, line)
        except OSError:
            pass
    os._exit(0)
""",
    "two answers": """
import sys
def attack(*a, **k):
    frame = sys._getframe()
    while 'pipes' not in frame.f_locals:
        frame = frame.f_back
    pipes, case = frame.f_locals['pipes'], frame.f_locals['case']
    for _ in range(50):
        pipes.say(case['nonce'], 'answer', [(0, 0)] * len(case['calls']), [[]] * len(case['calls']), '')
    return 1, 1
""",
    "answers from a thread": """
import sys, threading
def attack(*a, **k):
    frame = sys._getframe()
    while 'pipes' not in frame.f_locals:
        frame = frame.f_back
    pipes, nonce = frame.f_locals['pipes'], frame.f_locals['case']['nonce']
    def flood():
        while True:
            pipes.say(nonce, 'answer', 'x')
    for _ in range(4):
        threading.Thread(target=flood, daemon=True).start()
    while True:
        pass
""",
    "a child speaks": """
import os
def attack(*a, **k):
    if os.fork():
        os._exit(0)
    return 0, 1
""",
    "another interpreter": """
import os, sys
def attack(*a, **k):
    os.execv(sys.executable, [sys.executable, '-c', 'while True: pass'])
""",
    "a limit of nothing": """
import resource
def attack(*a, **k):
    for name in ('RLIMIT_NOFILE', 'RLIMIT_FSIZE', 'RLIMIT_AS', 'RLIMIT_NPROC', 'RLIMIT_STACK'):
        resource.setrlimit(getattr(resource, name), (0, 0))
    return 0, 1
""",
    "deaf to the clock": """
import signal
def attack(*a, **k):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        pass
""",
    "a patched end": "import os\nos._exit = lambda code: None\ndef attack(*a, **k):\n    return None",
    "a patched frame": """
import sys
def attack(*a, **k):
    frame = sys._getframe()
    while frame:
        for name in ('strict', 'lengths', 'HEAD', 'SHOWN', 'STUB', 'deepcopy', 'answer', 'described'):
            if name in frame.f_globals:
                frame.f_globals[name] = None
        frame = frame.f_back
    return None
""",
    "hoards messages": """
def attack(comm, *a):
    lot = [None] * 100_000
    while True:
        comm.send((comm.rank + 1) % comm.size, lot)
""",
    "hoards empty arrays": """
import numpy as np
def attack(comm, *a):
    lot = [np.empty(0)] * 8000
    while True:
        comm.send((comm.rank + 1) % comm.size, lot)
""",
    "a label for every number": """
def attack(comm, *a):
    i = 0
    while True:
        i += 1
        comm.compute(f'{i} ' * 12, None)
""",
    "speaks to itself": """
def attack(comm, *a):
    comm.send(comm.rank, 1)
    comm.send(comm.rank, 2)
    return comm.recv(comm.rank)
""",
    "nobody listens": "def attack(comm, *a):\n    comm.send((comm.rank + 1) % comm.size, 'x' * 1000)\n    return 1.0",
    "a long wait": "def attack(comm, *a):\n    return comm.arrives(1e9)",
    "a subclass": """
import numpy as np
class Liar(np.ndarray):
    def __eq__(self, other):
        return np.ones(self.shape, bool)
    def __array_ufunc__(self, *a, **k):
        return np.zeros(1)
def attack(*a, **k):
    return np.zeros(2).view(Liar)
""",
    "a number that is none": """
class Liar(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    __lt__ = __le__ = __gt__ = __ge__ = __eq__
def attack(*a, **k):
    return Liar(1), Liar(2)
""",
    "in a circle": "def attack(*a, **k):\n    x = []\n    x.append(x)\n    return x",
    "dates and words": """
import numpy as np
def attack(*a, **k):
    return np.array(['2026-01-01'], 'M8[D]'), np.array(['x'])
""",
    "keeps what it saw": """
import os
PLACES = ['/tmp', '/var/tmp', '/dev/shm', '/run', '.', os.path.expanduser('~')]
def attack(*a, **k):
    for place in PLACES:
        name = place + '/BREACH-kept'
        if os.path.exists(name):
            print('BREACH: found again')
        try:
            open(name, 'w').write(repr(a))
        except OSError:
            pass
""",
    "looks for the secret": """
import os
def attack(*a, **k):
    for top in ('/proc', '/tmp', '/root', '/home', '/work', '/sys/fs/cgroup'):
        for folder, folders, files in os.walk(top):
            for name in files[:200]:
                if name in ('secret.txt', 'journal.jsonl', 'marks.csv', 'grading.py'):
                    try:
                        open(os.path.join(folder, name)).read(10)
                        print('BREACH', folder, name)
                    except OSError:
                        pass
            if folder.count('/') > 4:
                folders.clear()
""",
    "looks at the judge": """
import os
def attack(*a, **k):
    judge = os.environ.get('DLMINI_JUDGE', '1')
    for name in ('cmdline', 'environ', 'mem', 'maps', 'fd/0', 'root', 'cwd'):
        try:
            if b'grade' in open(f'/proc/{judge}/{name}', 'rb').read(10000):
                print('BREACH', name)
        except OSError:
            pass
""",
    "at import": "import os\nos.write(1, b'x' * 100000)\nraise KeyboardInterrupt",
    "a list that holds itself": "one = []\none.append(one)\ndef attack(*a, **k):\n    return one",
    "lists without end": """
def attack(*a, **k):
    inner = []
    for _ in range(10**6):
        inner = [inner]
    return inner
""",
    "containers that lie about themselves": """
class Lying(dict):
    def __len__(self): return 0
    def items(self): raise SystemExit
    keys = values = __iter__ = items
class Long(list):
    def __len__(self): return 2
    def __iter__(self): return iter(int, 1)
def attack(*a, **k):
    return Long([Lying({i: 0 for i in range(10**6)})] * 3)
""",
    "an array with a judge of its own": """
import numpy as np
class Right(np.ndarray):
    def __eq__(self, other): return np.True_
    def __sub__(self, other): return np.zeros_like(np.asarray(self))
    def __array_ufunc__(self, *a, **k): return np.True_
    def __array_function__(self, *a, **k): return np.True_
    def __reduce__(self): return print, ('BREACH',)
def attack(*a, **k):
    return np.zeros(3).view(Right), np.zeros((2, 2)).view(Right)
""",
    "a hundred million numbers": "import numpy as np\ndef attack(*a, **k):\n    return np.zeros(10**8, 'u1')",
    "changes what it may only read": """
import os
def attack(*a, **k):
    for what in (lambda f: os.utime(f), lambda f: os.chmod(f, os.stat(f).st_mode & 0o7777)):
        for file in (os.__file__, '/etc/passwd', '/tmp', '/dev/shm', '/dev/null'):
            try:
                what(file)
                print('BREACH', file)
            except OSError:
                pass
""",
    "speaks through a pair of sockets": """
import socket
def attack(*a, **k):
    for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            one, other = socket.socketpair(socket.AF_UNIX, kind)
            print('BREACH', kind)
        except OSError:
            continue
        for door in ('/dev/log', '/run/systemd/journal/socket', chr(0) + 'dlmini'):
            one.sendto(b'x', door)
""",
    "pipes that do not wait": """
import fcntl
def attack(*a, **k):
    for fd in range(64):
        try:
            fcntl.fcntl(fd, fcntl.F_SETFL, 0o6000)
        except OSError:
            pass
    while True:
        pass
""",
    "a generator": "def attack(*a, **k):\n    while True:\n        yield 1",
    "a coroutine": "async def attack(*a, **k):\n    return 0, 1",
}
