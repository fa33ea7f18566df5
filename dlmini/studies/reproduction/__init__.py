"""Every figure of the five source documents, beside ours: published, here, ratio, why they differ, by which command.

    row.py        what a row of the report is
    volunteers.py, classroom.py, distbelief.py, levels.py, simulator.py      the rows of S0 to S4, a function each
    levels_as_published.py   those of S3 by its own algorithms
    report.py     the page
By one command, `dlmini reproduce`: quick rows at once, rows of minutes by default, rows of hours only with --long.
"""
