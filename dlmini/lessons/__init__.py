"""What the experiments of each lesson compute: one module per lesson, and no pictures (those are in show/lessons).

A cell of a notebook is a line or two; the function that it calls lives here, is tested, and can be called from scripts.
"""
