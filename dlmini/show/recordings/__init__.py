"""Shipped recordings of the lessons' live experiments: a dashboard replays them where nothing else runs.

dashboard(recording="03")       the recording of lesson 03, by its number or its name
dlmini course record 03         makes it again, from the film in its lesson's recording.py
"""

from dlmini.show.recordings.recorded import Recorded, recorded
from dlmini.show.recordings.shipped import opened, shipped

__all__ = ["Recorded", "opened", "recorded", "shipped"]
