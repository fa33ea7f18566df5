"""Both ends of the boundary between judge and student: a student's code runs behind it, in a process of its own.

This file imports nothing: it is loaded inside the sandbox too.
"""
