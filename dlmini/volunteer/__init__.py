"""Training by volunteers: machines that come, go, fail and lie.

    dlmini volunteer serve FOLDER        dlmini volunteer join http://HOST:PORT

unit.py             one work unit's life: copies, quorum, maxima         validator.py    which answer is believed
dispatcher.py       units, hosts, queue, deadlines: a state machine      hosts.py        quotas and trust
dispatch_events.py  what happens to it, and what it orders               crowd.py        many hosts, to try it out
work.py             what is to be done, as data; sets.py                 described.py    told in words, and back
federated_work.py   the same for a federation's clients                  rounds.py       when answers become weights
strategy_memory.py  what a strategy remembers                            store.py        the project's SQLite file
dispatcher_snapshot.py  a dispatcher's state, there and back
engine.py           dispatcher, store and work tied together             server.py       HTTP around it; page.html
guards.py           budgets and deadlines of requests                    client.py       a volunteer; limits.py
looker.py           tries weights on the test set, in a process beside
project.py          a server and volunteers of one's own, from a notebook
population.py       simulated volunteers that work for the same dispatcher, in virtual time
simulated_host.py   one of them: its machine and its owner's days        delivery.py     VM or container
"""
