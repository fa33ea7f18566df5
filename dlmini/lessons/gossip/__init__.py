"""Lesson 08. Gossip: talk to a few."""

NAME = "08_gossip"
