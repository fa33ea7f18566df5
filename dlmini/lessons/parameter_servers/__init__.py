"""Lesson 05. Parameter servers, one and many."""

NAME = "05_parameter_servers"
