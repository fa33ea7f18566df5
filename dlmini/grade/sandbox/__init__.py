"""What holds a student's process: limits, namespaces, what it may see; and which of them this machine offers.

This file imports nothing: it is loaded inside the sandbox too.
"""
