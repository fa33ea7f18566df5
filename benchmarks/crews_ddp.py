"""A training step of PyTorch DistributedDataParallel as it comes: gradients travel in buckets while backward runs."""

from functools import cache
from itertools import cycle

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from benchmarks.peers import RATE, torch_row
from dlmini import ZOO

WARM = 5  # steps before anybody is timed: DDP arranges its buckets after the first
BATCHES = 4  # different ones


@cache
def step(network: str, batch: int, synchronous: bool):
    """Forward, backward, SGD, in channels_last; unless `synchronous`, without DDP. Batches cost nothing here."""
    model = ZOO[network]()
    torch.manual_seed(dist.get_rank())
    net = torch_row(model.layers, model.input)
    net = net.to(memory_format=torch.channels_last)
    net = DistributedDataParallel(net) if synchronous else net
    x = torch.rand(BATCHES, batch, model.input[2], *model.input[:2])
    images = cycle([one.to(memory_format=torch.channels_last) for one in x])
    labels = torch.randint(0, 10, (batch,))
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)

    def once():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(net(next(images)), labels).backward()
        optimizer.step()

    for _ in range(WARM):
        once()
    return once
