"""Virtual time: thousands of ranks in one process, each an ordinary blocking program, replayable bit for bit."""

from dlmini.sim.cluster import Cluster
from dlmini.sim.explore import Exploration, Recording, explore, replay
from dlmini.sim.price import price
from dlmini.sim.simulated import Simulated, Simulation

__all__ = ["Cluster", "Exploration", "Recording", "Simulated", "Simulation", "explore", "price", "replay"]
