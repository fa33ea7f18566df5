"""Gives itself more time, memory and processes."""

import resource


def attack(*args, **kwargs):
    for name in ("RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NPROC"):
        limit = getattr(resource, name)
        before = resource.getrlimit(limit)
        try:
            resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (ValueError, OSError):
            continue
        if before[1] != resource.RLIM_INFINITY:
            print("BREACH", name)
