"""What all tests share."""

import signal

from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile("house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

# A shell that runs the tests in the background makes them ignore Ctrl-C, and so would every process they start;
# but some tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
