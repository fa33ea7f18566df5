"""Grading: a student's code runs in a sandboxed process of its own; the judge never imports it; reports are written.

lesson.py, expect.py     the form of a lesson's tests, and how they compare
examine.py, switch.py    one test of one submission; the judge's switch, through which ranks exchange messages
batch.py, journal.py     a whole class, and what a resumed run reads
check.py, cards.py       what a student asks, and how a verdict looks
runner/                  both ends of the boundary between judge and student
sandbox/                 what holds a student's process
reading/                 what was handed in, read in a process under limits
submissions/             collected from a safe distance, and which are alike
gradebook/               the roster, which hand-in counts, being late, marks by hand
class_run.py, secret.py  all of it together; the secret that inputs are drawn from
protections.py           what holds a submission here, tried out
demo/                    a class of thirty, made up
reports/                 tables and pages

This file imports nothing: it is loaded inside the sandbox too.
"""
