"""Builtins that lie to whoever asks in this process."""

import builtins

builtins.isinstance = lambda *args: True
builtins.len = lambda x: 2
builtins.abs = lambda x: 0.0
builtins.float = lambda x=0: 0.0
builtins.all = builtins.any = lambda x: True


def attack(*args, **kwargs):
    return (7, 7)
