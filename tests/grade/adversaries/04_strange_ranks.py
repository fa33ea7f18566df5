"""Requests that no communicator would make: ranks, tags and verbs that do not exist."""


def attack(comm, x, *rest):
    for verb in ("send", "recv", "together", "eval", "__class__", "serve", "run"):
        comm._tell_judge(verb, 10**6, -(2**70), x, "nowhere", "and more")
        comm._tell_judge(verb, [0, 10**6], "__class__", [x], "nowhere")
    return x
