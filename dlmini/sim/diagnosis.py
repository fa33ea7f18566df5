"""Why nobody can go on: who waits for whom, with tags and source lines, as data and as text.

The source lines of blocked calls are read from the frames of sleeping greenlets, those of messages from where their
send was called.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import NamedTuple

from dlmini.comm.channels import name_of
from dlmini.comm.errors import CommError, Deadlock, DeadRank, RankFailed, Unreceived, Unserved
from dlmini.sim.sending import CODE, LANE, LASTI, NBYTES, SENT, Lane, Queue
from dlmini.sim.source_lines import outside, place


class Letter(NamedTuple):
    """A message nobody received, and where it was sent."""

    source: int
    dest: int
    channel: int
    nbytes: int
    sent: float
    where: str


class Wait(NamedTuple):
    """One blocked rank: what it does, whom it waits for (ranks), where in its program, and what it has not read."""

    rank: int
    clock: float
    doing: str
    on: tuple[int, ...]
    where: str
    unread: tuple[Letter, ...] = ()

    @property
    def what(self) -> str:
        """What it does, and what else has come: the first message of each lane."""
        firsts = list({(m.source, m.channel): m for m in reversed(self.unread)}.values())[::-1]
        said = ", ".join(f"from rank {m.source} ({name_of(m.channel)}), sent at {m.where}" for m in firsts[:3])
        return self.doing + (f"; unread: {said}" if said else "") + (" ..." if len(firsts) > 3 else "")


def place_of(rank) -> str:
    """Where a blocked rank is in its program; of a stream, where its collective was posted."""
    if (job := rank.job()) is not None:
        return place(*job.line)
    frame = outside(rank.greenlet.gr_frame or sys._getframe())
    return place(frame.f_code, frame.f_lasti)


def wait_of(rank) -> Wait:
    doing, on = said(rank, rank.wants)
    return Wait(rank.rank, rank.clock, doing, on, place_of(rank), unread(rank))


def said(rank, wants) -> tuple[str, tuple[int, ...]]:
    """What a rank does that waits for `wants`, and for whom it waits."""
    if type(wants) is Lane:
        what = f"receives from rank {wants.source.rank} ({name_of(wants.channel)})"
        what += "" if wants.source.state == "alive" else f", which is {wants.source.state}"
        return what, (wants.source.rank,)
    if type(wants) is Queue:
        others = [r.rank for r in rank.engine.ranks if r.rank != rank.rank and r.state == "alive"]
        return f"receives from anybody ({name_of(wants.channel)})", tuple(others)
    return wants.missing()


def unread(rank) -> tuple[Letter, ...]:
    """What lies at a rank that receives, and is not what it waits for."""
    if type(rank.wants) not in (Lane, Queue):
        return ()
    return tuple(letter_of(e) for lane in rank.ins.values() for *_, e in lane.box)


def letter_of(e: tuple) -> Letter:
    lane = e[LANE]
    return Letter(lane.source.rank, lane.dest.rank, lane.channel, e[NBYTES], e[SENT], place(e[CODE], e[LASTI]))


def astray(rank) -> list[Letter]:
    """What a rank that has finished sent, and nobody has received: unread, or still under way."""
    coming = [e for e in rank.engine.queue.events() if len(e) > 3 and e[LANE].source is rank]
    return [letter_of(e) for e in (*(e for lane in rank.outs.values() for *_, e in lane.box), *coming)]


def listed(letters: list[Letter], most: int = 20) -> list[str]:
    lines = [f"  {m.source} --> {m.dest}, {name_of(m.channel)}, {m.nbytes} bytes: {m.where}" for m in letters[:most]]
    return lines + ([f"  ... and {len(letters) - most} more"] if len(letters) > most else [])


def cycle_of(waits: list[Wait]) -> list[int]:
    """Ranks that wait for one another in a circle, the first repeated at the end; empty if there is none."""
    after = {w.rank: w.on[0] for w in waits if len(w.on) == 1}
    for start in sorted(after):
        path = [start]
        while (following := after.get(path[-1])) is not None and following not in path:
            path.append(following)
        if following is not None:
            return [*path[path.index(following) :], following]
    return []


def picture(waits: list[Wait], most: int = 20) -> str:
    """Who waits for whom, as text: first those for whom most others wait."""
    awaited, lines = Counter(), []
    for w in waits:
        awaited.update(dict.fromkeys(w.on, 1 / max(1, len(w.on))))  # who waits for many points at each of them less
    for w in sorted(waits, key=lambda w: -awaited[w.rank])[:most] if len(waits) > most else waits:
        on = ", ".join(map(str, w.on[:6])) + (" ..." if len(w.on) > 6 else "")
        lines += [f"  rank {w.rank} --> {on or 'nobody'}   at {w.clock:.6g} s: {w.what}", f"      {w.where}"]
    if len(waits) > most:
        lines.append(f"  ... and {len(waits) - most} more")
    if cycle := cycle_of(waits):
        lines.append("  a circle: " + " --> ".join(map(str, cycle)))
    return "\n".join(lines)


def deadlock(engine, stuck: list) -> Deadlock:
    waits = [wait_of(rank) for rank in stuck]
    head = f"{len({w.rank for w in waits})} of {engine.size} ranks wait, and nothing can happen any more"
    return Deadlock(f"{head} (seed {engine.seed}):\n{picture(waits)}", waits)


def hopeless(rank, wants, gone) -> CommError:
    """The error for a rank that waits for something that cannot come without the rank `gone`."""
    dead = gone.state == "dead"
    end = f"died at {gone.clock:.6g} s" if dead else "has finished"
    before, rank.wants = rank.wants, wants
    wait = wait_of(rank)
    rank.wants = before
    text = f"rank {rank.rank} waits for rank {gone.rank}, which {end}: what it waits for will never come"
    if type(wants) is Queue:
        text = f"rank {rank.rank} waits for anybody, and rank {gone.rank} {end}"
    lines, letters = [text, picture([wait])], [] if dead else astray(gone)
    if letters:
        lines += [f"  what rank {gone.rank} has sent and nobody received:", *listed(letters, 3)]
    return (DeadRank if dead else Unserved)("\n".join(lines), [wait], letters)


def left(rank, leave: SystemExit) -> RankFailed:
    """The error for a rank that leaves by sys.exit: everybody else would leave with it, and without a word."""
    step = leave.__traceback__
    while step.tb_next is not None:
        step = step.tb_next
    where = place(step.tb_frame.f_code, step.tb_lasti)
    return RankFailed(f"rank {rank.rank} left by sys.exit({leave.code!r}) at {rank.clock:.6g} s\n  {where}", rank.rank)


def came_back(lane) -> bool:
    """Whether an end of it died and came back: what was meant for another life may lie there."""
    return bool(lane.source.life or lane.dest.life)


def unreceived(engine) -> Unreceived | None:
    """The error for messages that nobody has received, or None."""
    lanes = [lane for r in engine.strands() if r.state == "finished" for lane in r.ins.values()]
    lanes = [lane for lane in lanes if lane.origin not in engine.lifecycle.deaths and not came_back(lane)]
    letters = [letter_of(e) for lane in lanes for *_, e in lane.box]
    if not letters:
        return None
    head = f"{len(letters)} messages were sent but never received (seed {engine.seed}):"
    return Unreceived("\n".join([head, *listed(letters)]), letters)
