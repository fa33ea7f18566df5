"""Plain: every gradient is summed among all, whole, for as long as the budget lasts."""


def recipe(terms):
    return {"sync": "bsp", "topology": "allreduce", "optimizer": "momentum:0.05", "rounds": terms["steps"]}
