"""Virtual time: thousands of ranks in one process, each an ordinary blocking program, replayable bit for bit.

engine.py, event_queue.py, lifecycle.py     the clock, what happens when, ranks that begin, end, crash and return
rank.py, sending.py, receiving.py           what a program sees: `Comm` in virtual time
posted.py, pricing/                         collectives: played in the background, or priced all at once
cluster.py, simulated.py                    what machines are like; the transport
diagnosis.py, source_lines.py, explore.py   who waits for whom, and where; other legal orders
controlled.py                               somebody pauses, slows, cuts and kills
"""

from dlmini.sim.cluster import Cluster
from dlmini.sim.explore import Exploration, Recording, explore, replay
from dlmini.sim.pricing.price import price
from dlmini.sim.simulated import Simulated, Simulation

__all__ = ["Cluster", "Exploration", "Recording", "Simulated", "Simulation", "explore", "price", "replay"]
