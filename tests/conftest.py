"""What all tests share: hypothesis without deadlines (the first call of a kernel compiles it)."""

from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
