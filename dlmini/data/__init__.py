"""Data: sets by name, readers of the standard files, generators, partitioners, mini-batches."""

from dlmini.data.aerial import AERIAL, aerial
from dlmini.data.augment import turned
from dlmini.data.batching import Batch, batches, stream
from dlmini.data.catalogue import load
from dlmini.data.cifar import read_cifar
from dlmini.data.dataset import Dataset
from dlmini.data.download import fetch
from dlmini.data.folders import read_folders
from dlmini.data.idx import read_idx
from dlmini.data.palettes import VAIHINGEN, read_palette
from dlmini.data.partition import split_by_label, split_by_quantity, split_dirichlet, split_iid
from dlmini.data.synthetic import blobs, shapes, spirals
from dlmini.data.tiles import cut_tiles

__all__ = [
    "AERIAL",
    "VAIHINGEN",
    "Batch",
    "Dataset",
    "aerial",
    "batches",
    "blobs",
    "cut_tiles",
    "fetch",
    "load",
    "read_cifar",
    "read_folders",
    "read_idx",
    "read_palette",
    "shapes",
    "spirals",
    "split_by_label",
    "split_by_quantity",
    "split_dirichlet",
    "split_iid",
    "stream",
    "turned",
]
