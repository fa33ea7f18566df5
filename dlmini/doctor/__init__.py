"""Is this machine ready for a lecture? Every check is a small function from what was measured to a Finding.

finding.py   what a check says           machine.py   cores, memory, disk, clock
software.py  Python, packages, Jupyter, MPI, Chromium
pool.py      workers, BLAS threads, compiled kernels, segments that the dead left behind
visit.py     measure and judge everything
hosts.py     are several machines ready for Mpi(hosts=...)?     host_probe.py   what it runs on each of them
"""
