"""Grading: runners that hold a student's code in a sandbox, a judge that never imports it, and reports.

This file imports nothing: it is loaded inside the sandbox too.
"""
