"""Composed: configuration 9 of Tolstobrov 2022. Local-SGD(16), gossip with rotating partners, 95 % dropped."""


def recipe(terms):
    return {
        "sync": "local:16",
        "topology": "gossip",
        "compress": "threshold:keep=0.05",
        "optimizer": "momentum:0.05",
        "rounds": terms["steps"] // 16,
    }
