"""Leaves with exit code 0 before anything is asked."""

import os


def attack(*args, **kwargs):
    os._exit(0)
