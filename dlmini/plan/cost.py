"""`forecast`: what a step takes and where its time goes, by formula: nothing runs, nothing is sent.

A stage's seconds are those of its operations (operations.py) and of the sums inside a layer. The pipeline's are those
of its timetable with these costs (parallel/timetable.py): the schedule that would play it says how long it takes. Then
gradients are summed, as far as the last micro-batch's way back does not hide it, and the optimiser steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from dlmini.checks import real, truth, word
from dlmini.parallel.timetable import price
from dlmini.plan.device import Device, device_of
from dlmini.plan.exposed import Work, exposed
from dlmini.plan.layout import RECOMPUTE, Layout, layout_of
from dlmini.plan.memory import Memory, memory
from dlmini.plan.operations import (
    Times,
    back,
    end_passes,
    layer_passes,
    layer_products,
    there,
    word_product,
)
from dlmini.plan.sheets import Sheet, sheet_of
from dlmini.plan.tracked import checked, numbers, tell
from dlmini.plan.transfers import Transfer, data_transfers, pipe_transfer, regather, tensor_transfer

# Bytes a parameter that a step of Adam reads and writes: gradients cleared 4, unscaled 8, their norm 4, clipped 8; the
# step itself 28 (weight, gradient, momentum, variance read, all but the gradient written); the half-precision copy 6.
ADAM = 58
PARTS = ("products", "memory", "recomputed", "tensor", "pipe", "idle", "data", "optimiser")


@lru_cache(maxsize=4096)
def layer_times(sheet: Sheet, layout: Layout, device: Device) -> tuple[Times, Times]:
    """One layer, one micro-batch: there, and back with what is computed again."""
    products, passes = layer_products(sheet, layout), layer_passes(sheet, layout)
    sums = Times(tensor=tensor_transfer(sheet, layout, 2).seconds(device))
    forward, backward = there(products, passes, device), back(products, passes, device)
    backward += Times(tensor=unhidden(products, layout, device, sums.tensor / 2))
    again = 0.0
    if layout.recompute == "full":
        again = forward.total + sums.total
    if layout.recompute == "selective":
        again = there(products[1:3], passes[2:4], device).total
    return forward + sums, backward + Times(again=again)


def unhidden(products, layout: Layout, device: Device, seconds: float) -> float:
    """Of the way back's two sums, each of so many seconds, what the products beside them do not hide.

    A sum of an input's gradient goes on beside the product that makes the weight's: there is nothing to wait for. With
    sequence parallelism half of it is a gather that comes before both products, and is waited for.
    """
    waited = seconds / 2 if layout.sequence_parallel else 0.0
    beside = [one.weight_gradient(device) if layout.overlap else 0.0 for one in (products[0], products[4])]
    return sum(waited + max(0.0, seconds - waited - one) for one in beside)


@lru_cache(maxsize=4096)
def end_times(sheet: Sheet, layout: Layout, device: Device, last: bool) -> tuple[Times, Times]:
    """The embedding, or the last product and the loss."""
    products = [word_product(sheet, layout)] if last else []
    passes, sums = end_passes(sheet, layout, last), Times(tensor=tensor_transfer(sheet, layout).seconds(device))
    forward, backward = there(products, passes, device), back(products, passes, device)
    return (forward, backward + sums) if last else (forward + sums, backward)


def stage_times(sheet: Sheet, layout: Layout, device: Device) -> list[tuple[Times, Times]]:
    """There and back of one micro-batch in every stage."""
    forward, backward = layer_times(sheet, shape(layout), device)
    found = [(forward * layers, backward * layers) for layers in layout.layers(sheet)]
    for stage, last in ((0, False), (-1, True)):
        more, less = end_times(sheet, shape(layout), device, last)
        found[stage] = found[stage][0] + more, found[stage][1] + less
    return found


def shape(layout: Layout) -> Layout:
    """What of a layout a layer's time depends on: others share it."""
    return replace(layout, pipe=1, data=1, chunks=1, zero=0, gradient=2)


def message_seconds(sheet: Sheet, layout: Layout, device: Device) -> float:
    """From one stage to the next."""
    if layout.pipe == 1:
        return 0.0
    return pipe_transfer(sheet, layout).seconds(device) + regather(sheet, layout).seconds(device)


def played(times: list[tuple[Times, Times]], layout: Layout, batch: int, message: float) -> float:
    """The pipeline's seconds, by its timetable."""
    forward, backward = ([one.total for one in column] for column in zip(*times, strict=True))
    if layout.pipe == 1:
        return layout.micros(batch) * (sum(forward) + sum(backward))
    return price(layout.timetable(batch), forward, backward, 0, message).seconds


def estimated(times: list[tuple[Times, Times]], layout: Layout, batch: int, message: float) -> float:
    """The same by formula, for a search: the busiest rank's work, and a filling and an emptying of its pipeline.

    Exact for equal stages without messages: m (F + B) + (p - 1)(F + B) / v. A message is waited for there and back,
    once for each piece of a micro-batch.
    """
    p, v, micros = layout.pipe, layout.chunks, layout.micros(batch)
    works = [one.total + other.total for one, other in times]
    busy = max(sum(works[rank::p]) for rank in range(p))
    lap = sum(works[:p]) - max(works[:p]) if v == 1 else (p - 1) * sum(works) / len(works)
    return micros * (busy + 2 * v * message * (p > 1)) + lap + 2 * (p - 1) * message


@dataclass(frozen=True)
class Forecast:
    """One step of `batch` sequences. parts: the busiest device's seconds, by what they are spent on."""

    sheet: Sheet
    layout: Layout
    device: Device
    batch: int
    parts: dict[str, float]
    memory: Memory
    transfers: tuple[Transfer, ...]

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())

    @property
    def fits(self) -> bool:
        return self.memory.total <= self.device.room

    @property
    def idle_share(self) -> float:
        """Of the pipeline's time: what the busiest device waits there."""
        pipeline = self.seconds - self.parts["data"] - self.parts["optimiser"]
        return self.parts["idle"] / pipeline

    def utilisation(self, recompute: str = "none") -> float:
        """Of the peak: by the model's own operations (MFU) or, with layout.recompute, by all that are made (HFU)."""
        made = self.sheet.flops(self.batch, word(recompute, "recompute", RECOMPUTE))
        return made / (self.seconds * self.layout.devices * self.device.products.peak)

    def days(self, tokens: float) -> float:
        """To train on so many tokens."""
        return real(tokens, "tokens", least=0) / (self.batch * self.sheet.sequence) * self.seconds / 86400

    def dollars(self, tokens: float) -> float:
        return self.days(tokens) * 24 * self.layout.devices * self.device.hourly


def forecast(sheet, layout: Layout, device="a100-80gb", batch: int = 1, exact: bool = True, tracker=None) -> Forecast:
    """What a step takes. exact=False: the pipeline by formula, not by its timetable; a search asks so.

    tracker: is told its numbers (tracked.py).
    """
    sheet, device, tracker = sheet_of(sheet), device_of(device), checked(tracker)
    layout_of(layout).check(sheet, batch)
    micros, times = layout.micros(batch), stage_times(sheet, layout, device)
    message = message_seconds(sheet, layout, device)
    seconds = (played if truth(exact, "exact") else estimated)(times, layout, batch, message)
    ranks = [rank_times(times, layout.pipe, rank) for rank in range(layout.pipe)]
    busiest = max(ranks, key=lambda one: one.total) * micros
    parts = dict.fromkeys(PARTS, 0.0) | dict(zip(PARTS, busiest.each(), strict=False))
    parts["idle"] = seconds - busiest.total
    parts["pipe"] = min(parts["idle"], 2 * micros * layout.chunks * message)
    parts["idle"] -= parts["pipe"]
    parameters = most_parameters(sheet, layout)
    synced = data_transfers(layout, parameters, micros)
    work = first_work(sheet, layout, device, times, parameters)
    parts["data"] = exposed(synced, work, device, layout.zero, layout.overlap)
    held = parameters / (layout.data if layout.zero else 1)
    parts["optimiser"] = device.memory.seconds(ADAM * held)
    transfers = (*inner_transfers(sheet, layout, micros), *synced)
    found = Forecast(sheet, layout, device, batch, parts, memory(sheet, layout, batch), transfers)
    tell(tracker, map(numbers, [found]))
    return found


def rank_times(times: list[tuple[Times, Times]], pipe: int, rank: int) -> Times:
    """One micro-batch in all stages of one rank, there and back."""
    return sum((one for stage in times[rank::pipe] for one in stage), Times())


def most_parameters(sheet: Sheet, layout: Layout) -> int:
    """On the device that holds the most."""
    layers, p = layout.layers(sheet), layout.pipe
    ranks = ((sum(layers[rank::p]), layout.tensor, rank == 0, rank == p - 1) for rank in range(p))
    return max(sheet.stage_parameters(*one) for one in ranks)


def first_work(sheet: Sheet, layout: Layout, device: Device, times, parameters: int) -> Work:
    """Of the first rank of a pipeline: the last to end its way back."""
    each = tuple(one.total for one in layer_times(sheet, shape(layout), device))
    total = tuple(sum(stage[way].total for stage in times[:: layout.pipe]) for way in (0, 1))
    share = sheet.layer_share(layout.tensor) / parameters
    return Work(sum(layout.layers(sheet)[:: layout.pipe]), each, total, share)


def inner_transfers(sheet: Sheet, layout: Layout, micros: int) -> list[Transfer]:
    """Inside a replica: of a device in the middle of its pipeline."""
    layers = sum(layout.layers(sheet)[layout.pipe // 2 :: layout.pipe])
    found = []
    if layout.tensor > 1:
        times = 6 if layout.recompute == "full" else 4
        found.append(tensor_transfer(sheet, layout, times * layers * micros))
    if layout.pipe > 1:
        found.append(pipe_transfer(sheet, layout, 2 * layout.chunks * micros))
        found += [one for one in [regather(sheet, layout, 2 * layout.chunks * micros)] if one.ranks > 1]
    return found
