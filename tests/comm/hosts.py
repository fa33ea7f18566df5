"""Hosts on one machine, as the study of the classroom uses them."""

from dlmini.studies.hosts import NET, addresses, hosts, unavailable

__all__ = ["NET", "addresses", "hosts", "unavailable"]
