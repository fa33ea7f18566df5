"""python on_hosts.py SIZE PROGRAM ARGUMENT FILE: a program of mpi_programs, one rank on each host of hosts.py.

Its results, or the error, go pickled to the file. Run on the first host, as a notebook would be.
"""

import pickle
import sys

import mpi_programs
from hosts import NET

from dlmini.comm.launch import launch
from dlmini.comm.mpi import Mpi

if __name__ == "__main__":
    size, program, argument, file = sys.argv[1:]
    on = Mpi(int(size), hosts=[f"{NET}{i + 1}" for i in range(int(size))], timeout=150)
    try:
        found = launch(getattr(mpi_programs, program), on, (int(argument) if argument.isdigit() else argument,))
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    with open(file, "wb") as out:
        pickle.dump(found, out)
