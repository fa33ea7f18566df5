"""The course as files: lessons become notebooks, solutions become exercises, and a student's progress is kept.

folder.py     where the course lies, in a clone or in an installed package
notebook.py   a lesson's text becomes a notebook         lessons.py    which lessons there are
build.py      all notebooks and exercises at once        strip.py      a solution becomes an exercise
check_record.py  what a student's own checks have said   progress.py   the index's table of them
warm_up.py    compile and read from disk what lessons need
jupyter.py    a JupyterLab with settings of its own      serve.py      its process, which ends with its parent
guesses.py    what a guess is, and how close it was      guess_record.py  a student's guesses, kept
work.py       the student's own folder
"""
