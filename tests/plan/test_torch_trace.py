"""Traces of PyTorch steps on fake ranks: what is recorded, beside what the plan says; files; replay."""

import json
from dataclasses import replace

import pytest

from dlmini.plan import DEVICES, Layout, Sheet, Trace, ddp_buckets, read_trace, replay, trace
from dlmini.plan.torch_regimes import fsdp_collectives, layer_shapes, padded_elements, root_shapes
from dlmini.plan.traces import Collective, Work
from dlmini.plan.transfers import data_transfers

SMALL = Sheet("small", 32, 3, 4, 96, 16, positions=False, embedding_norm=True, dropout=False)
STEP = Trace(
    8,
    (
        Collective("allgather", 800, 1, 8),
        Work(10**12, 3, 10**9, 4),
        Collective("allgather", 1600, 2, 4),
        Work(10**12, 3, 10**9, 4),
        Collective("reduce_scatter", 800, 1, 8),
        Collective("barrier", 0, 1, 2),
    ),
)


def bloom_in_torch(torch, sheet: Sheet):
    """BLOOM's own shape: layers as `layer_shapes` says, the last product by the embedding."""
    nn, h = torch.nn, sheet.hidden

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.qkv, self.projection = nn.LayerNorm(h), nn.Linear(h, 3 * h), nn.Linear(h, h)
            self.feed, self.up, self.down = nn.LayerNorm(h), nn.Linear(h, 4 * h), nn.Linear(4 * h, h)

        def forward(self, x):
            parts = self.qkv(self.norm(x)).unflatten(-1, (3, sheet.heads, -1)).permute(2, 0, 3, 1, 4)
            seen = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
            x = x + self.projection(seen.transpose(1, 2).flatten(-2))
            return x + self.down(nn.functional.gelu(self.up(self.feed(x))))

    class Bloom(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.first = nn.Embedding(sheet.vocabulary, h), nn.LayerNorm(h)
            self.blocks, self.last = nn.ModuleList(Block() for _ in range(sheet.layers)), nn.LayerNorm(h)

        def forward(self, x):
            x = self.first(self.words(x))
            for block in self.blocks:
                x = block(x)
            return nn.functional.linear(self.last(x), self.words.weight)

    return Bloom()


def sharded_step(sheet: Sheet):
    def job(mesh):
        import torch
        from torch.distributed.fsdp import fully_shard

        model, words = bloom_in_torch(torch, sheet), torch.zeros(1, sheet.sequence, dtype=torch.long)
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
        loss = torch.nn.functional.cross_entropy
        return lambda: loss(model(words).flatten(0, 1), words.flatten()).backward()

    return job


@pytest.fixture(scope="module")
def traced():
    pytest.importorskip("torch")
    return {world: trace(sharded_step(SMALL), world) for world in (4, 48)}


@pytest.mark.parametrize("world", [4, 48])
def test_a_traced_fsdp_step_gathers_and_scatters_as_reckoned(traced, world):
    """On 48 ranks a matrix of 32 rows is filled up to 48: that is in both."""
    found = {(kind, nbytes): often for (kind, nbytes, ranks), often in traced[world].table().items() if ranks == world}
    assert found == fsdp_collectives(SMALL, world)


def test_the_traced_step_against_the_plans_own_zero_3(traced):
    """Twice as many bytes (float32), the outermost unit gathered once, and as many messages for each unit."""
    found, layout = traced[4].collectives, Layout(data=4, zero=3)
    gradients, weights = data_transfers(layout, SMALL.parameters, 1)
    gathered, scattered = (sum(c.nbytes for c in found if c.kind == kind) for kind in ("allgather", "reduce_scatter"))
    root = padded_elements(root_shapes(SMALL), 4)
    assert scattered == 2 * gradients.nbytes
    assert gathered == 2 * weights.count * weights.nbytes - 4 * root
    units = SMALL.layers + 1
    assert [c.kind for c in found].count("allgather") == weights.count * units - 1
    assert [c.kind for c in found].count("reduce_scatter") == gradients.count * units


def test_a_traced_step_computes_what_the_sheet_says(traced):
    assert traced[4].work.flops == pytest.approx(SMALL.flops(1), rel=0.05)
    assert traced[4].work == traced[48].work or traced[48].work.flops == traced[4].work.flops


def test_shapes_are_the_sheets():
    assert padded_elements(layer_shapes(SMALL), 1) == SMALL.layer_parameters
    assert SMALL.layers * SMALL.layer_parameters + padded_elements(root_shapes(SMALL), 1) == SMALL.parameters


def test_the_documents_bytes_of_bloom_560m_on_3072_ranks():
    """100.8 MB for each layer, twice what it holds, and 1,031.8 MB for the rest."""
    found = {(kind, round(n / 1e6, 1)): often for (kind, n), often in fsdp_collectives("bloom-560m", 3072).items()}
    wanted = {("allgather", 100.8): 48, ("allgather", 1031.8): 1, ("reduce_scatter", 100.8): 24}
    assert found == wanted | {("reduce_scatter", 1031.8): 1}


def test_a_group_of_a_mesh_is_known_by_its_stride():
    torch = pytest.importorskip("torch")

    def job(mesh):
        data, tensor = mesh.get_group(0), mesh.get_group(1)

        def step():
            torch.distributed.all_reduce(torch.zeros(10), group=tensor)
            torch.distributed.all_reduce(torch.zeros(20), group=data)

        return step

    found = trace(job, (3, 4))
    assert found.world == 12
    assert found.collectives == [Collective("allreduce", 40, 1, 4), Collective("allreduce", 80, 4, 3)]
    assert list(found.collectives[1].group(7)) == [3, 7, 11]


def test_what_a_trace_cannot_be_made_of_is_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="a function of a mesh"):
        trace("model")
    with pytest.raises(ValueError, match="ranks, or a shape"):
        trace(lambda mesh: None, 0)

    def sends(mesh):
        torch.distributed.all_to_all_single(torch.zeros(4), torch.zeros(4))

    with pytest.raises(ValueError, match="which a trace cannot hold"):
        trace(sends, 4)
    assert not torch.distributed.is_initialized()
    assert trace(lambda mesh: None, 4).events == ()


@pytest.mark.parametrize("cap", [25 << 20, 3000])
def test_buckets_of_ddp_are_pytorchs_own(cap):
    torch = pytest.importorskip("torch")
    sizes = [300, 5000, 70, 70, 400_000, 9_000_000, 12, 700_000, 1]
    tensors = [torch.empty(n, device="meta") for n in reversed(sizes)]
    rows, _ = torch.distributed._compute_bucket_assignment_by_size(tensors, [1 << 20, cap], [False] * len(sizes))
    wanted = [sum(tensors[i].numel() * 4 for i in row) for row in rows]
    assert ddp_buckets(sizes, bucket=cap) == wanted


# ---- files and replay: without PyTorch ----


def test_a_trace_is_read_back_as_it_was_written(tmp_path):
    assert read_trace(STEP.save(tmp_path / "step.jsonl")) == STEP


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "is no trace"),
        (["{}"], "is no trace"),
        (['{"format": "dlmini trace", "version": 1, "world": 0}'], "line 1: world is 0"),
        (['{"format": "dlmini trace", "version": 1}'], "line 1: world is None"),
        (['{"format": "dlmini trace", "version": 1, "world": 8, "events": 1}'], "line 1: events is 1, but 0 follow"),
        ([STEP, '{"flops": 1, "products": 1, "bytes": 0, "passes": 0}'], "line 1: events is 6, but 7 follow"),
        ([STEP, '{"flops": 1, "flops": 2, "products": 1, "bytes": 0, "passes": 0}'], "line 8: .* stands twice: flops"),
        ([STEP, "[1]"], "line 8: .* is no event"),
        ([STEP, "nonsense"], "line 8: no JSON"),
        ([STEP, '{"flops": 1}'], "line 8: an event has flops, products, bytes, passes"),
        ([STEP, '{"collective": "gossip", "bytes": 1, "stride": 1, "count": 8}'], "line 8: collective is 'gossip'"),
        ([STEP, '{"collective": "allreduce", "bytes": -1, "stride": 1, "count": 8}'], "line 8: bytes"),
        ([STEP, '{"collective": "allreduce", "bytes": 1, "stride": 1, "count": 3}'], "line 8: .* do not fill it"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_its_line(tmp_path, lines, said):
    file = tmp_path / "bad.jsonl"
    whole = [STEP.save(file).read_text().rstrip() if line is STEP else line for line in lines]
    file.write_text("\n".join(whole) + "\n")
    with pytest.raises((ValueError, TypeError), match=said):
        read_trace(file)


def test_how_many_events_follow_may_be_left_unsaid(tmp_path):
    file = STEP.save(tmp_path / "step.jsonl")
    file.write_text(file.read_text().replace(', "events": 6', "", 1))
    assert read_trace(file) == STEP


def test_a_trace_is_replayed_on_every_rank():
    device = DEVICES["a100-80gb"]
    one, other = (replay(STEP, device, overlap).seconds for overlap in (True, False))
    work = sum(event.seconds(device) for event in STEP.events if isinstance(event, Work))
    assert work < one < other
    messages = replay(STEP).books.total()
    assert messages.nbytes == 7 * 800 + 2 * 3 * 1600 + 7 * 800


def test_work_pays_for_every_beginning():
    device = DEVICES["a100-80gb"]
    one = Work(flops=10**12, products=1).seconds(device)
    assert one == pytest.approx(device.products.seconds(1e12))
    assert Work(flops=10**12, products=5).seconds(device) > one
    assert Work().seconds(replace(device, room=1.0)) == 0


def test_the_format_is_what_the_page_says(tmp_path):
    lines = STEP.save(tmp_path / "step.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {"format": "dlmini trace", "version": 1, "world": 8, "events": 6}
    assert json.loads(lines[1]) == {"collective": "allgather", "bytes": 800, "stride": 1, "count": 8}
    assert json.loads(lines[2]) == {"flops": 10**12, "products": 3, "bytes": 10**9, "passes": 4}
