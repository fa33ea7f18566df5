"""What all tests share."""

import signal

import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile("house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

# A shell that runs the tests in the background makes them ignore Ctrl-C, and so would every process they start;
# but some tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def task():
    """Something small to learn: 480 points in three clouds, two dense layers."""
    from dlmini import Classify, Dense, Model, blobs

    train, test = blobs(480, seed=1), blobs(120, seed=2)
    return Classify(Model([Dense(16), Dense(len(train.classes))], train.shape), train, test, batch=8)
