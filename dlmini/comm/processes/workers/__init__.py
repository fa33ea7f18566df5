"""Worker processes: how they start, what they and their parent say to each other, how they end.

pool.py, worker.py, protocol.py       the parent's end, the worker's end, and what passes between them
start.py, warm_workers.py             by a fork server that has run the kernels once, or as fresh processes
event_sender.py, edited_sources.py    events on their way to the parent; whether the user's own files have changed
failures.py, deadlock_watch.py, hang_watch.py, worker_exit.py, wait_many.py    what can go wrong, and how it is noticed
"""
