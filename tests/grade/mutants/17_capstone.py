"""Wrong answers to exercise 17: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

ROUNDS, HEARD, MIXING, RECIPE = "rounds_within", "heard", "mixing", "recipe"
BUDGETS = 'costs = ((seconds, terms["seconds"]), (sent, 1e6 * terms["megabytes"]), (price, terms["money"]))'
LEAST = 'return min([terms["steps"], *(int(budget / cost) for cost, budget in costs if cost > 0)])'
ADDED = "K[i, j % size] += 1 / 4"
PARTNERS = "for j in (i, i, i + far, i - far):\n            " + ADDED
THIRDS = "for j in (i, i + far, i - far):\n            K[i, j % size] += 1 / 3"
COUNT = "count = min(update.size, 8 + update.size // 16)"

MUTANTS = [
    (ROUNDS, "one machine is paid", 'terms["workers"] * seconds', "seconds", "one machine is paid"),
    (
        ROUNDS,
        "money is forgotten",
        BUDGETS,
        'costs = ((seconds, terms["seconds"]), (sent, 1e6 * terms["megabytes"]))',
        "money is forgotten",
    ),
    (
        ROUNDS,
        "steps are forgotten",
        'min([terms["steps"], *(',
        "min([10**9, *(",
        "the steps of the world",
    ),
    (ROUNDS, "rounded up", LEAST, LEAST.replace("int(budget / cost)", "int(budget / cost) + 1"), "one round more"),
    (ROUNDS, "paid by the second", "seconds / 3600", "seconds", "an hour has 3600 seconds"),
    (ROUNDS, "megabytes for bytes", '1e6 * terms["megabytes"]', 'terms["megabytes"]', "a megabyte has 10^6 bytes"),
    (ROUNDS, "powers of two", '1e6 * terms["megabytes"]', '2**20 * terms["megabytes"]', "not 2^20"),
    (ROUNDS, "a gigabyte of 10^6", "sent / 1e9", "sent / 1e6", "a gigabyte has 10^9 bytes"),
    (ROUNDS, "every worker sends", "sent / 1e9", 'terms["workers"] * sent / 1e9', "it is that of all together"),
    (ROUNDS, "at least one", LEAST, f"{LEAST} or 1"),
    (ROUNDS, "divided by nothing", " if cost > 0", "", "ZeroDivisionError"),
    (HEARD, "the numbers without their size", "update[index].tobytes()", "np.sign(update[index]).tobytes()"),
    (HEARD, "the smallest", "-np.abs(update)", "np.abs(update)", "not the numbers of largest magnitude were said"),
    (
        HEARD,
        "the largest, not the largest magnitudes",
        "-np.abs(update)",
        "-update",
        "the largest numbers, and not the largest magnitudes",
    ),
    (
        HEARD,
        "by lot, and made longer",
        "update[index].tobytes()",
        "(update[index] * np.float32(update.size / count)).tobytes()",
        "were heard larger than they are",
    ),
    (HEARD, "twice as many", COUNT, "count = min(update.size, 8 + update.size // 8)", "a message has at most"),
    (HEARD, "eight too few for all", COUNT, "count = min(update.size, update.size // 16)"),
    (HEARD, "everything is sent", "comm.send(1, say(given, seed))", "comm.send(1, given)"),
    (
        HEARD,
        "a message that nobody receives",
        "return hear(bytes(comm.recv(0)), given)",
        "comm.send(0, b'more')\n    return hear(bytes(comm.recv(0)), given)",
        "that nobody has received",
    ),
    (MIXING, "set, not added", ADDED, "K[i, j % size] = 1 / 4", "sums to"),
    (MIXING, "thirds of four", ADDED, "K[i, j % size] += 1 / 3", "sums to"),
    (MIXING, "everybody", PARTNERS, "for j in range(size):\n            K[i, j] += 1 / size", "at most two are"),
    (
        MIXING,
        "always the neighbours",
        "far = 2 ** (t % max(1, (size - 1).bit_length()))",
        "far = 1",
        "has heard nothing",
    ),
    (MIXING, "a third for oneself", PARTNERS, THIRDS, "keep at least a half"),
    (MIXING, "rows alone sum to one", "(i, i, i + far, i - far)", "(i, i, 0, 0)", "column"),
    (RECIPE, "no round at all", "max(1, rounds)", "rounds", "rounds is 0"),
    (
        RECIPE,
        "all steps whatever the period",
        '"rounds": max(1, rounds)',
        '"rounds": terms["steps"]',
        "are allowed here",
    ),
    (RECIPE, "a word nobody knows", '"sync": f"local:{period}"', '"sync": f"sometimes:{period}"'),
]
