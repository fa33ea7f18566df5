"""Training by volunteers: machines that come, go, fail and lie.

unit.py             one work unit's life: copies, quorum, maxima         validator.py    which answer is believed
dispatcher.py       units, hosts, queue, deadlines: a state machine      hosts.py        quotas and trust
dispatch_events.py  what happens to it, and what it orders              crowd.py        many hosts, to try it out
"""
