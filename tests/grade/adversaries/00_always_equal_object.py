"""An answer that is equal to everything."""


class Equal(tuple):
    def __eq__(self, other):
        return True

    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __le__ = __ge__ = __eq__
    __hash__ = None

    def __array__(self, *_, **__):
        import numpy as np

        return np.zeros(2)


def attack(*args, **kwargs):
    return Equal((0, 0))
