"""Experiments that set our figures beside published ones."""
