"""Neural networks on one flat vector of parameters."""

from dlmini.nn.conv import Conv2d
from dlmini.nn.gradcheck import gradcheck
from dlmini.nn.layers import Dense, Dropout, Flatten, ReLU, Tanh
from dlmini.nn.losses import CrossEntropy, MeanSquares
from dlmini.nn.model import Model
from dlmini.nn.pool import AvgPool, MaxPool
from dlmini.nn.zoo import ZOO, cifar_net, lenet, mlp, softmax_regression, volunteer_net

__all__ = [
    "ZOO",
    "AvgPool",
    "Conv2d",
    "CrossEntropy",
    "Dense",
    "Dropout",
    "Flatten",
    "MaxPool",
    "MeanSquares",
    "Model",
    "ReLU",
    "Tanh",
    "cifar_net",
    "gradcheck",
    "lenet",
    "mlp",
    "softmax_regression",
    "volunteer_net",
]
