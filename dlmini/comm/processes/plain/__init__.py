"""The shared-memory kernels once more, readable: the NumPy twins of `kernels`."""
