"""What all tests share."""

import signal

import pytest
from examples import LONG
from hypothesis import settings

settings.load_profile("long" if LONG else "usual")

# A shell that runs the tests in the background makes them ignore Ctrl-C, and so would every process they start;
# but some tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Files with long tests come first: of two processes that share the files neither has a long one left at the end.
    Of these, notebooks and browsers come last: what is compiled once, is compiled by then.

    In the long form a hang is found later: a property may be tried for half an hour.
    """
    place = dict.fromkeys((item.path for item in items), 2)
    for mark, where in (("slow", 0), ("notebooks", 1), ("browser", 1)):
        place.update((item.path, where) for item in items if item.get_closest_marker(mark))
    items.sort(key=lambda item: place[item.path])
    for item in items if LONG else ():
        item.get_closest_marker("timeout") or item.add_marker(pytest.mark.timeout(1800))


@pytest.fixture(scope="session")
def task():
    """Something small to learn: 480 points in three clouds, two dense layers."""
    from dlmini import Classify, Dense, Model, blobs

    train, test = blobs(480, seed=1), blobs(120, seed=2)
    return Classify(Model([Dense(16), Dense(len(train.classes))], train.shape), train, test, batch=8)
