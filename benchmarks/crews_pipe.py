"""A training step of PyTorch's pipelining: two stages, one forward and one backward, micro-batches over gloo."""

from functools import cache
from itertools import pairwise

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

from benchmarks.networks import NETWORKS
from benchmarks.peers import RATE, torch_row

WARM = 3  # steps before anybody is timed: shapes are exchanged in the first


@cache
def step(network: str, batch: int, micros: int, cut: int):
    """Forward, backward, SGD on this rank's stage. Batches cost nothing here."""
    model, rank = NETWORKS[network](), dist.get_rank()
    edges = list(pairwise((0, cut, len(model.layers))))
    low, high = edges[rank]
    net = torch_row(model.layers[low:high], model.shapes[low])
    stage = PipelineStage(net, rank, len(edges), torch.device("cpu"))
    schedule = Schedule1F1B(stage, micros, loss_fn=torch.nn.functional.cross_entropy)
    images = torch.rand(batch, model.input[2], *model.input[:2])
    labels = torch.randint(0, 10, (batch,))
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)

    def once():
        optimizer.zero_grad(set_to_none=True)
        if rank == 0:
            schedule.step(images)
        else:
            schedule.step(target=labels, losses=[])
        optimizer.step()

    for _ in range(WARM):
        once()
    return once
