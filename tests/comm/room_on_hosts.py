"""python room_on_hosts.py SWITCH TIMES FILE: a room of three hosts of hosts.py, of which one loses its cable.

Run on the first host, as a notebook would be. Each time: what the notebook says and after how many seconds; and whether
the host finds back by itself when its cable is in again. Written to the file as JSON.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from hosts import addresses

from dlmini.comm import RankFailed, launch
from dlmini.comm.classroom import Classroom
from dlmini.events import Fault

PCS, AGENT = 3, "PRTE_MCA_plm_ssh_agent"


def cable(switch, host, state):
    subprocess.run(["ip", "-n", switch, "link", "set", f"p{host}", state], check=True)


def waits(comm):
    comm.emit(Fault("begun", "", rank=comm.rank))
    return comm.recv((comm.rank + 1) % comm.size)


def cut_once(room, switch):
    """Of the host whose PC is called pc-3, as soon as all have begun."""
    begun, cut = set(), []

    def listen(event):
        if isinstance(event, Fault) and event.kind == "begun":
            begun.add(event.rank)
            if len(begun) == PCS:
                cable(switch, 3, "down")
                cut.append(time.monotonic())

    try:
        launch(waits, room, (), listen)
    except RankFailed as error:
        said, seconds = str(error), time.monotonic() - cut[0]
    there = [row.name for row in room.who()]
    cable(switch, 3, "up")
    return {"said": said, "seconds": seconds, "there": there, "again": launch(lambda comm: comm.size, room).values}


def main(switch, times, file):
    room = Classroom(PCS, 0, address=addresses(1)[0], key_file=file.with_name("room.key"), wait=120).open()
    pcs = []
    for number, host in enumerate(addresses(PCS), 1):
        words = [sys.executable, "-m", "dlmini", "join", room.where, "--key", room.key, "--name", f"pc-{number}"]
        pcs.append(subprocess.Popen([os.environ[AGENT], host, shlex.join(words)], stdout=subprocess.DEVNULL))
    found = [cut_once(room, switch) for _ in range(times)]
    room.close()
    for pc in pcs:
        pc.wait(30)
    file.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
