"""Neural networks on one flat vector of parameters."""

from dlmini.nn.branches import Residual, Skip
from dlmini.nn.conv import Conv2d
from dlmini.nn.gradcheck import gradcheck
from dlmini.nn.layers import Dense, Dropout, Flatten, ReLU, Tanh
from dlmini.nn.losses import CrossEntropy, MeanSquares
from dlmini.nn.model import Model
from dlmini.nn.norm import BatchNorm
from dlmini.nn.pool import AvgPool, MaxPool
from dlmini.nn.up import Up
from dlmini.nn.zoo import ZOO, cifar_net, lenet, mlp, resnet8, softmax_regression, unet, volunteer_net

__all__ = [
    "ZOO",
    "AvgPool",
    "BatchNorm",
    "Conv2d",
    "CrossEntropy",
    "Dense",
    "Dropout",
    "Flatten",
    "MaxPool",
    "MeanSquares",
    "Model",
    "ReLU",
    "Residual",
    "Skip",
    "Tanh",
    "Up",
    "cifar_net",
    "gradcheck",
    "lenet",
    "mlp",
    "resnet8",
    "softmax_regression",
    "unet",
    "volunteer_net",
]
