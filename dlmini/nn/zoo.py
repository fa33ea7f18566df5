"""The networks of the course."""

from dlmini.checks import lengths, refuse, whole
from dlmini.nn.branches import Residual, Skip
from dlmini.nn.conv import Conv2d
from dlmini.nn.layers import Dense, Flatten, ReLU
from dlmini.nn.model import Model
from dlmini.nn.norm import BatchNorm
from dlmini.nn.pool import AvgPool, MaxPool
from dlmini.nn.up import Up


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


def double(channels):
    """Twice: a 3x3 convolution, normalised, through a ReLU."""
    return [Conv2d(channels, 3, padding="same"), BatchNorm(), ReLU()] * 2


def unet(width=16, depth=5, input=(512, 512, 3), classes=6, **options):
    """The network of the classroom: every pixel gets a class. 2,183,990 parameters.

    On the way down `depth` poolings, with `width` channels doubled at each up to 8 `width`; on the way up the image of
    the same size from the way down is joined on. After Ronneberger et al., U-Net, 2015, with batch normalisation.
    Sides must be multiples of 2^depth. The Vaihingen tiles of the classroom were 512 x 512.
    """
    width, depth = whole(width, "width", 1), whole(depth, "depth", 1, 12)
    input, side = lengths(input, "input"), 2**depth
    if len(input) != 3 or any(s % side or not s for s in input[:2]):
        near = [side * max(1, round(s / side)) for s in (*input, side, side)[:2]]
        raise ValueError(
            f"input is {input}; {depth} poolings halve an image {depth} times and Up doubles it again, so height and "
            f"width must be multiples of {side}, as in ({near[0]}, {near[1]}, 3)"
        )
    channels = [width * min(2**level, 8) for level in range(depth)]
    layers = double(channels[-1])
    for level, here in reversed([*enumerate(channels)]):
        below = channels[min(level + 1, depth - 1)]
        layers = [*double(here), Skip([MaxPool(2), *layers, Up(below)]), *double(here)]
    return Model([*layers, Conv2d(whole(classes, "classes", 1), 1)], input, **options)


def resnet8(width=16, input=(32, 32, 3), classes=10, **options):
    """A small residual network for CIFAR: three blocks of two 3x3 convolutions, 16, 32 and 64 channels.

    Where a block halves the image and doubles the channels, its shortcut is a 1x1 convolution. After He et al.,
    Deep residual learning for image recognition, 2015, with one block of each width.
    """
    width = whole(width, "width", 1)
    layers = [Conv2d(width, 3, padding="same"), BatchNorm(), ReLU()]
    for channels, stride in ((width, 1), (2 * width, 2), (4 * width, 2)):
        inner = [Conv2d(channels, 3, stride, padding="same"), BatchNorm(), ReLU()]
        inner += [Conv2d(channels, 3, padding="same"), BatchNorm()]
        layers += [Residual(inner, [] if stride == 1 else [Conv2d(channels, 1, stride), BatchNorm()]), ReLU()]
    head = [AvgPool("image"), Flatten(), Dense(whole(classes, "classes", 1))]
    return Model([*layers, *head], input, **options)


ZOO = {f.__name__: f for f in (softmax_regression, mlp, lenet, cifar_net, volunteer_net, unet, resnet8)}
