"""The networks of the course."""

from dlmini.checks import refuse, whole
from dlmini.nn.conv import Conv2d
from dlmini.nn.layers import Dense, Flatten, ReLU
from dlmini.nn.model import Model
from dlmini.nn.pool import MaxPool


def softmax_regression(input=(28, 28, 1), classes=10, **options):
    """One dense layer: the simplest network there is, and a convex problem."""
    return Model([Flatten(), Dense(whole(classes, "classes", 1))], input, **options)


def mlp(hidden=(128, 64), input=(28, 28, 1), classes=10, **options):
    """Dense layers only."""
    if not isinstance(hidden, list | tuple):
        refuse(TypeError, "hidden", hidden, "a row of numbers of units, such as (128, 64)")
    inner = [layer for units in hidden for layer in (Dense(units), ReLU())]
    return Model([Flatten(), *inner, Dense(whole(classes, "classes", 1))], input, **options)


def lenet(input=(28, 28, 1), classes=10, **options):
    """Two 5x5 convolutions with pooling, 16 and 32 channels, then 128 units. After LeCun et al., 1998."""
    layers = [Conv2d(16, 5), ReLU(), MaxPool(2), Conv2d(32, 5), ReLU(), MaxPool(2)]
    return Model([*layers, Flatten(), Dense(128), ReLU(), Dense(whole(classes, "classes", 1))], input, **options)


def cifar_net(input=(32, 32, 3), classes=10, **options):
    """The small CNN for CIFAR: twice two 3x3 convolutions and pooling, 32 then 64 channels, then 256 units."""
    layers = []
    for channels in (32, 64):
        layers += [Conv2d(channels, 3, padding="same"), ReLU(), Conv2d(channels, 3, padding="same"), ReLU(), MaxPool(2)]
    return Model([*layers, Flatten(), Dense(256), ReLU(), Dense(whole(classes, "classes", 1))], input, **options)


def volunteer_net(input=(28, 28, 1), classes=10, **options):
    """The network of the volunteer-computing project: 258,794 parameters. After Kurochkin and Papanov, 2023."""
    layers = [Conv2d(24, 5, padding="same"), ReLU(), MaxPool(2), Conv2d(48, 5, padding="same"), ReLU(), MaxPool(2)]
    return Model(
        [*layers, Flatten(), Dense(96), ReLU(), Dense(32), ReLU(), Dense(whole(classes, "classes", 1))],
        input,
        **options,
    )


ZOO = {f.__name__: f for f in (softmax_regression, mlp, lenet, cifar_net, volunteer_net)}
