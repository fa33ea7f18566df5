"""Exercise 17: the capstone. This file is your entry: `dlmini leaderboard` races it on worlds that nobody has seen.

Write four functions, then run `check("17.rounds_within")` and its like in the notebook, or `dlmini check 17` in a
terminal. What the checks ask for is what every sound entry has; the race is about everything beyond that, so change
whatever you like afterwards. Only NumPy and the standard library are there when it is judged.
"""

import numpy as np

HINTS = {
    "rounds_within": (
        "Three budgets, three numbers of rounds. Which of them decides?",
        "What does a round cost in money? Machines are paid by the hour, all of them; the wire by the gigabyte.",
        "A budget that a round does not touch allows any number: the steps are then the limit. Cut off what is no "
        "whole round.",
    ),
    "heard": (
        "Which numbers of an update carry most of it? Say these, each with its place.",
        "A place takes four bytes and a number four: how many of them fit into half a byte per number and 64 more?",
        "`argpartition` finds the k largest magnitudes. Places as uint32 and numbers as float32, one after the other, "
        "are a message; `hear` cuts it in the middle.",
    ),
    "mixing": (
        "Row i says how much of each worker's news reaches worker i. What must each row sum to, and each column?",
        "With two partners at distance s on a circle both sums are right by themselves. Which s in round t, so that "
        "news is everywhere after few rounds?",
        "1, 2, 4, ... below the number of workers, in turns; a half for oneself, a quarter for each of the two. Add to "
        "the entries, do not set them: at distance N/2 both partners are one and the same.",
    ),
    "recipe": (
        "What does one exchange cost, in seconds and in bytes, with your own messages and your own partners?",
        "Try periods 1, 2, 4, ...: a round takes so many steps and one exchange. Which is the shortest with which the "
        "budget lasts for all steps?",
        "`rounds_within` answers for each period. Stop at the first that affords steps // period rounds; if none does, "
        "take as many rounds as the last one affords, but at least one.",
    ),
}


def rounds_within(terms: dict, seconds: float, sent: float) -> int:
    """How many rounds the budget affords, if each takes so many seconds and all workers together send `sent` bytes.

        seconds:  rounds x seconds <= terms["seconds"]          bytes:  rounds x sent <= 10^6 x terms["megabytes"]
        money:    rounds x (workers x seconds / 3600 x machine_hour + sent / 10^9 x gigabyte) <= terms["money"]
    A whole number, from 0 to terms["steps"].
    """
    ### BEGIN SOLUTION
    price = terms["workers"] * seconds / 3600 * terms["machine_hour"] + sent / 1e9 * terms["gigabyte"]
    costs = ((seconds, terms["seconds"]), (sent, 1e6 * terms["megabytes"]), (price, terms["money"]))
    return min([terms["steps"], *(int(budget / cost) for cost, budget in costs if cost > 0)])
    ### END SOLUTION


def say(update: np.ndarray, seed: int) -> bytes:
    """An update, a vector of float32, as a message of at most half a byte per number and 64 bytes more.

    seed: another one in each call, the same when the race is run again: for whoever wants to draw lots.
    """
    ### BEGIN SOLUTION
    count = min(update.size, 8 + update.size // 16)
    index = np.argpartition(-np.abs(update), count - 1)[:count] if count else np.zeros(0, int)
    return index.astype(np.uint32).tobytes() + update[index].tobytes()
    ### END SOLUTION


def hear(message: bytes, size: int) -> np.ndarray:
    """What a message of `say` stands for: a vector of `size` float32."""
    ### BEGIN SOLUTION
    half = len(message) // 2
    vector = np.zeros(size, np.float32)
    vector[np.frombuffer(message[:half], np.uint32)] = np.frombuffer(message[half:], np.float32)
    return vector
    ### END SOLUTION


def heard(comm, given, seed: int):
    """Rank 0 is given an update and says it; rank 1 is given its size and hears it: there is nothing to write.

    This is checked: the two run in processes of their own, and the judge weighs the message on its way. What is heard
    must be nearer to the update than nothing is:  |update - heard|^2 <= 15/16 |update|^2.
    """
    if comm.rank == 0:
        comm.send(1, say(given, seed))
        return None
    return hear(bytes(comm.recv(0)), given)


def mixing(size: int, t: int) -> np.ndarray:
    """The mixing matrix of round t for so many workers: nobody hears more than two others.

    Rows and columns sum to one. After 2 ceil(log2 size) rounds what one worker said has reached everybody. The mean of
    the matrices of these rounds has no negative eigenvalue: so it is if everybody keeps at least a half for oneself.
    """
    ### BEGIN SOLUTION
    K = np.zeros((size, size))
    far = 2 ** (t % max(1, (size - 1).bit_length()))
    for i in range(size):
        for j in (i, i, i + far, i - far):
            K[i, j % size] += 1 / 4
    return K
    ### END SOLUTION


def recipe(terms: dict) -> dict:
    """When to talk, with whom, how briefly, how to step: the words of the command line, and `own` for what is above.

        {"sync": "local:4", "topology": "own", "compress": "own", "optimizer": "momentum:0.05", "rounds": 30}
    is one: four steps between two exchanges, `mixing`, `say` and `hear`. More words: "bsp", "gossip", "allreduce",
    "topk:0.05", "int8", "sgd:0.1", "adam:0.001" (`dlmini train --help` lists all); "outer" and "feedback" may be named,
    too. At most terms["steps"] steps of a worker in all. The longest period that pays is 32.
    """
    ### BEGIN SOLUTION
    message = 8 * (8 + terms["numbers"] // 16) + 4
    sent = 2 * terms["workers"] * message
    at_once = sent if terms["shared"] else 2 * message
    talk = at_once / min(terms["upload"], terms["bandwidth"]) + 2 * terms["latency"]
    talk += terms["encoding"]["own"] * terms["numbers"] / 1e9
    for period in (1, 2, 4, 8, 16, 32):
        affords = rounds_within(terms, period * terms["step_seconds"] * 1.2 + talk, sent)
        rounds = min(affords, terms["steps"] // period)
        if rounds == terms["steps"] // period:
            break
    return {
        "sync": f"local:{period}",
        "topology": "own",
        "compress": "own",
        "optimizer": "momentum:0.05",
        "rounds": max(1, rounds),
    }
    ### END SOLUTION
