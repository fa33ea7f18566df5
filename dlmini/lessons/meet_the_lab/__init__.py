"""Lesson 00. Meet the lab: ranks, messages, the cost of one."""

NAME = "00_meet_the_lab"
