"""The capstone's judge: entries race on unseen worlds, under a budget, and none of their code shares a process with it.

An *entry* is one file of plain functions:

    recipe(terms)         words for when to talk, with whom, how briefly, how to step (a dict)
    say(update, seed)     an update as a message of one's own: bytes            (compress: "own")
    hear(message, size)   what such a message stands for: a vector of float32
    mixing(size, t)       the matrix of round t                                 (topology: "own")
A *world* is a network nobody has seen, a task, machines that may fail, and a budget of bytes, seconds and money.
The judge owns weights, data, messages and the clock; an entry's functions answer from sandboxes, one for each rank.
`say` and `hear` see the numbers of an update in an order that is drawn with the world.
"""
