"""`trace`: a PyTorch training step as every one of thousands of ranks would run it, recorded in one process.

The step runs on fake tensors (shapes and types, no numbers) in a world of fake ranks, whose collectives return at once:
both are PyTorch's own. What passes its dispatcher is written down: products by their FLOPs (PyTorch's own formulas),
other operations by the bytes they read and write, collectives by kind, bytes and group. PyTorch is needed here only.

    def job(mesh):
        model = Net()
        fully_shard(model, mesh=mesh)
        return lambda: model(torch.zeros(1, 2048, dtype=torch.long)).sum().backward()

    found = trace(job, world=3072)

`DistributedDataParallel` looks at real numbers when it begins, so it cannot be traced; what it sends follows from its
buckets (`ddp_buckets`).
"""

from __future__ import annotations

from contextlib import contextmanager
from math import prod

from dlmini.checks import refuse, shown, whole
from dlmini.plan.traces import Collective, Trace, Work

# PyTorch's names of collectives: ours, and which argument is the whole vector. (base: one tensor; else lists of them)
BASE = {
    "c10d._allgather_base_": ("allgather", 0),
    "c10d._reduce_scatter_base_": ("reduce_scatter", 1),
    "c10d.allgather_": ("allgather", 0),
    "c10d.reduce_scatter_": ("reduce_scatter", 1),
    "c10d.allgather_into_tensor_coalesced_": ("allgather", 0),
    "c10d.reduce_scatter_tensor_coalesced_": ("reduce_scatter", 1),
    "c10d.allreduce_": ("allreduce", 0),
    "c10d.allreduce_coalesced_": ("allreduce", 0),
    "c10d.broadcast_": ("broadcast", 0),
    "_c10d_functional.all_reduce": ("allreduce", 0),
    "_c10d_functional.all_reduce_": ("allreduce", 0),
    "_c10d_functional.all_reduce_coalesced": ("allreduce", 0),
    "_c10d_functional.reduce_scatter_tensor": ("reduce_scatter", 0),
    "_c10d_functional.broadcast": ("broadcast", 0),
    "c10d.barrier": ("barrier", None),
}
GATHERED = ("_c10d_functional.all_gather_into_tensor", "_c10d_functional.all_gather_into_tensor_out")
SILENT = ("_c10d_functional.wait_tensor", "c10d.monitored_barrier_", "_c10d_functional._wrap_tensor_autograd")


def trace(fn, world=3072) -> Trace:
    """What every rank does in the step `fn` makes.

    fn(mesh): builds a model on a mesh of the world's ranks and returns the step, a function without arguments, which is
    recorded; or does all of it and returns nothing. world: how many ranks, or a shape, such as (384, 8).
    """
    if not callable(fn):
        raise TypeError(f"fn is {shown(fn)}; it must be a function of a mesh that returns the step")
    shape = tuple(world) if isinstance(world, tuple | list) else (world,)
    shape = tuple(whole(n, "world", 1, hint="ranks, or a shape such as (384, 8)") for n in shape)
    torch = found_torch()
    with fake_world(torch, shape) as mesh, torch._subclasses.fake_tensor.FakeTensorMode():
        recorder = recorder_of(torch)
        with recorder:
            step = fn(mesh)
        if callable(step):
            recorder.events.clear()
            with recorder:
                step()
    return Trace(prod(shape), tuple(recorder.events))


def found_torch():
    try:
        import torch
        import torch._subclasses.fake_tensor
        import torch.testing._internal.distributed.fake_pg
        import torch.utils.flop_counter
    except ImportError as error:
        raise ImportError(f"trace needs PyTorch ({error}): pip install torch") from None
    return torch


@contextmanager
def fake_world(torch, shape: tuple[int, ...]):
    """A process group of fake ranks, and a mesh of them; made outside of fake tensors, which a mesh cannot be of."""
    group, store = torch.distributed, torch.testing._internal.distributed.fake_pg.FakeStore()
    if group.is_initialized():
        raise RuntimeError("there is a process group already; call trace before it is made, or after it is destroyed")
    group.init_process_group("fake", store=store, rank=0, world_size=prod(shape))
    try:
        with first_chunk_alone():
            yield group.device_mesh.init_device_mesh("cpu", shape)
    finally:
        group.destroy_process_group()


@contextmanager
def first_chunk_alone():
    """`fully_shard` cuts every parameter into as many chunks as there are ranks, and takes its own: rank 0's here.

    Of thousands of fake chunks only that one is made. Where PyTorch keeps this function elsewhere, it takes longer.
    """
    try:
        from torch.distributed.fsdp._fully_shard import _fsdp_param as place

        before = place._chunk_with_empty
    except (ImportError, AttributeError):
        yield
        return

    def first(tensor, num_chunks: int, dim: int) -> list:
        return [tensor.narrow(dim, 0, -(-tensor.size(dim) // num_chunks))]

    place._chunk_with_empty = first
    try:
        yield
    finally:
        place._chunk_with_empty = before


def recorder_of(torch):
    """A dispatch mode that writes down what passes: made here, since its base class is PyTorch's."""
    flop_formulas = torch.utils.flop_counter.flop_registry

    class Recorder(torch.utils._python_dispatch.TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.events = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            name = f"{func.namespace}.{func._opname}"
            if func.namespace in ("c10d", "_c10d_functional"):
                if name not in SILENT:
                    self.events.append(collective_of(torch, name, args, out))
            elif not func.is_view and func.namespace == "aten":
                self.add(work_of(torch, func, args, kwargs or {}, out, flop_formulas))
            return out

        def add(self, work: Work) -> None:
            if self.events and isinstance(self.events[-1], Work):
                self.events[-1] += work
            elif work != Work():
                self.events.append(work)

    return Recorder()


def tensors_in(torch, things) -> list:
    """All tensors in arguments and results, however nested."""
    found = []
    for thing in things if isinstance(things, list | tuple) else (things,):
        if isinstance(thing, torch.Tensor):
            found.append(thing)
        elif isinstance(thing, list | tuple):
            found += tensors_in(torch, thing)
    return found


def weight_of(tensors) -> int:
    return sum(int(one.numel()) * one.element_size() for one in tensors)


def work_of(torch, func, args, kwargs, out, formulas) -> Work:
    """A product by its FLOPs, anything else by the bytes it reads and writes."""
    formula = formulas.get(func._overloadpacket) or attention_formula(torch, func)
    if formula is not None:
        return Work(flops=int(formula(*args, **kwargs, out_val=out)), products=1)
    nbytes = weight_of(tensors_in(torch, out)) + weight_of(tensors_in(torch, args))
    return Work(nbytes=nbytes, passes=1) if nbytes and func._opname not in FREE else Work()


FREE = ("empty", "empty_strided", "empty_like", "new_empty", "set_", "resize_", "detach_")


def attention_formula(torch, func):
    """That of the processor's own attention, which PyTorch's table leaves out: two products there, five back."""
    counter = torch.utils.flop_counter
    if func._opname == "_scaled_dot_product_flash_attention_for_cpu":
        return lambda q, k, v, *_, out_val=None, **__: counter.sdpa_flop_count(q.shape, k.shape, v.shape)
    if func._opname == "_scaled_dot_product_flash_attention_for_cpu_backward":
        return lambda grad, q, k, v, *_, out_val=None, **__: counter.sdpa_backward_flop_count(
            grad.shape, q.shape, k.shape, v.shape
        )
    return None


def collective_of(torch, name: str, args, out) -> Collective:
    if name in GATHERED:
        kind, nbytes = "allgather", weight_of(tensors_in(torch, out))
    elif name in BASE:
        kind, which = BASE[name]
        nbytes = 0 if which is None else weight_of(tensors_in(torch, args[which]))
    else:
        raise ValueError(f"the step calls {name}, which a trace cannot hold; it knows {', '.join(sorted(BASE))}")
    ranks = group_ranks(torch, args)
    stride = ranks[1] - ranks[0] if len(ranks) > 1 else 1
    if ranks != list(range(0, stride * len(ranks), stride)):
        refuse(ValueError, "the group of a collective", ranks, "evenly spaced ranks that begin with 0, as in a mesh")
    return Collective(kind, nbytes, stride, len(ranks))


def group_ranks(torch, args) -> list[int]:
    """Whose collective it is: by its process group, or by the name of one."""
    group = torch.distributed
    for one in reversed(args):
        if isinstance(one, torch.ScriptObject):
            try:
                return group.get_process_group_ranks(group.ProcessGroup.unbox(one))
            except (RuntimeError, TypeError):
                continue
        if isinstance(one, str):
            try:
                return group.get_process_group_ranks(group.distributed_c10d._resolve_process_group(one))
            except (RuntimeError, ValueError, LookupError):
                continue
    return list(range(group.get_world_size()))
