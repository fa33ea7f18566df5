"""`dlmini plan`: what training a huge model on many devices would take, before any of them is bought."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from dlmini.commands.progress import refuse_ignored
from dlmini.terminal import console, say, write_results

SEARCHED = ("tensor", "pipe", "micro", "chunks", "zero", "recompute", "sequence_parallel")


def plan(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="a model sheet: bloom-560m, bloom-176b, gpt-175b ...")],
    devices: Annotated[int, typer.Option(min=1, help="how many in all")] = 8,
    device: Annotated[str, typer.Option(help="a100-80gb, h100-80gb, v100-32gb, laptop-core ...")] = "a100-80gb",
    tensor: Annotated[int, typer.Option(min=1, help="devices that share each layer")] = 1,
    pipe: Annotated[int, typer.Option(min=1, help="stages of the pipeline; the rest of the devices are copies")] = 1,
    micro: Annotated[int, typer.Option(min=1, help="sequences in a micro-batch")] = 1,
    chunks: Annotated[int, typer.Option(min=1, help="interleaved stages on each device")] = 1,
    zero: Annotated[int, typer.Option(min=0, max=3, help="ZeRO's stage")] = 0,
    recompute: Annotated[str, typer.Option(help="none, selective or full")] = "none",
    sequence_parallel: Annotated[bool, typer.Option(help="share norms and dropouts out, too")] = False,
    gradient: Annotated[int, typer.Option(help="bytes of a gradient: 2, or 4 as Megatron-LM's")] = 2,
    overlap: Annotated[bool, typer.Option(help="sums go on beside the way back")] = True,
    batch: Annotated[int | None, typer.Option(min=1, help="sequences in a step; by default 8 a pipeline place")] = None,
    tokens: Annotated[float | None, typer.Option(help="of the whole training, for days and dollars: 366e9")] = None,
    search: Annotated[bool, typer.Option("--search", help="rank layouts, and show the best")] = False,
    flush: Annotated[
        str | None, typer.Option(help="with --zero 2: what DeepSpeed sends, by allreduce or a reduce for each owner")
    ] = None,
    bucket: Annotated[int, typer.Option(min=1, help="with --flush: elements of DeepSpeed's bucket")] = 500_000_000,
    out: Annotated[Path | None, typer.Option(help="write tables and figures to this new folder")] = None,
) -> None:
    """Tell step time and where it goes, memory, traffic, efficiency, days and cost. Nothing is trained."""
    from dlmini import files
    from dlmini import plan as planning
    from dlmini.checks import real, word
    from dlmini.plan import report
    from dlmini.plan.zero_regimes import FLUSHES

    began = time.perf_counter()
    check_used(context, search, flush)
    if out is not None:
        files.demand_new(out)
    if tokens is not None:
        real(tokens, "--tokens", above=0, hint="of the whole training, such as 366e9")
    if flush is not None:
        word(flush, "--flush", FLUSHES)
    if flush is not None and (zero != 2 or tensor * pipe > 1 or search):
        raise ValueError("--flush tells what DeepSpeed's ZeRO 2 sends among copies alone: use --zero 2, no other split")
    rows, regime = [], None
    if search:
        rows = planning.search(model, devices, device, batch or devices, gradient=gradient, overlap=overlap)
        if not rows:
            raise ValueError(f"no layout of {model} on {devices} x {device} fits into memory; use more devices")
        console.print(Markdown(report.ranking(rows)))
        found = rows[0]
    else:
        copies, left = divmod(devices, tensor * pipe)
        if left:
            raise ValueError(f"--devices {devices}: it must be a multiple of tensor x pipe = {tensor * pipe}")
        layout = planning.Layout(
            tensor, pipe, copies, micro, chunks, zero, recompute, sequence_parallel, gradient, overlap
        )
        found = planning.forecast(model, layout, device, batch or 8 * pipe * copies * micro)
    console.print(Markdown(report.text(found, tokens)))
    if flush is not None:
        regime = planning.zero2(model, devices, bucket, flush, gradient)
        console.print(Markdown(report.collectives(regime)))
    if not found.fits:
        say("It does not fit: --search ranks layouts that do; --tensor, --pipe, --zero and --recompute make room.")
    if out is not None:
        write_results(out, lambda folder: report.write(found, folder, tokens, rows, regime), "tables and figures")
    say(f"planned in {time.perf_counter() - began:.1f} s")


def check_used(context: typer.Context, search: bool, flush: str | None) -> None:
    """Refuse options that would be ignored."""
    if search:
        refuse_ignored(context, SEARCHED, "--search tries every layout, so {}; leave these out, or --search")
    if flush is None:
        why = "only DeepSpeed has a bucket of its own, so {}; add --zero 2 --flush allreduce"
        refuse_ignored(context, ("bucket",), why)
