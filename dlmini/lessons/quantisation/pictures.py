"""The pictures of lesson 09: zeros and entropy, errors that average out, memory, crossovers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.comm.network import PRESETS, Switch
from dlmini.lessons.quantisation.cost import Cost, gathered_bytes, ring_bytes
from dlmini.lessons.quantisation.grids import Facts, least_bits
from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, GREY, ORANGE, VERMILION, strokes, themed
from dlmini.show.paper import sheet


@themed
def ratios(rows: Mapping[str, Facts]):
    """Deflate's ratio against the share of zeros; the line is 8 / H if all others are +1 or -1."""
    figure, ax = sheet(10.5, 4.4)
    zeros = np.linspace(0.35, 0.9995, 400)
    ax.semilogy(zeros, 8 / least_bits(zeros), color=GREY, label="8 / H, if the others are +1 or −1")
    for (name, row), stroke in zip(rows.items(), strokes(len(rows)), strict=True):
        ax.semilogy(row.zeros, row.deflated, "o", color=stroke["color"], markersize=10, label=f"{name}: deflate")
        ax.semilogy(row.zeros, row.bound, "_", color=stroke["color"], markersize=20, markeredgewidth=3)
    ax.axhline(52, color=BLACK, linestyle=":")
    ax.annotate("the classroom's × 52", (0.36, 52), (0, 4), textcoords="offset points")
    ax.set(xlabel="share of zeros", ylabel="times smaller than int8", ylim=(1, 300))
    ax.xaxis.set_major_formatter(percent())
    figure.legend(title="bars: 8 / H of the same levels", loc="outside right upper", fontsize="small")
    return figure


@themed
def silence(by_one: Mapping[str, float], by_own: Mapping[str, float]):
    """Which share of every array of the network is never heard."""
    figure, ax = sheet(9, 1.4 + 0.42 * len(by_one))
    rows = np.arange(len(by_one))
    ax.barh(rows - 0.2, list(by_one.values()), height=0.38, color=VERMILION, label="one maximum for the whole net")
    ax.barh(rows + 0.2, list(by_own.values()), height=0.38, color=BLUE, label="a maximum for each array")
    ax.set_yticks(rows, list(by_one))
    ax.set(xlim=(0, 1), xlabel="share of its numbers that become zero", ylim=(len(by_one) - 0.4, -0.6))
    ax.xaxis.set_major_formatter(percent())
    ax.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@themed
def averaging(workers: Sequence[int], errors: Mapping[str, Sequence[float]], one: float):
    """The error of the mean of N workers' packets, all of the same gradient; the line is variance / N."""
    figure, ax = sheet(8.5, 4)
    ax.loglog(workers, one / np.array(workers), color=GREY, linewidth=7, alpha=0.4, label="variance / N")
    for (name, values), stroke in zip(errors.items(), strokes(len(errors)), strict=True):
        ax.loglog(workers, values, "o-", color=stroke["color"], label=name)
    ax.set(xlabel="workers N", ylabel="|mean of packets − gradient|²")
    ax.set_xticks(workers, [str(n) for n in workers])
    ax.minorticks_off()
    ax.legend()
    return figure


@themed
def dripping(sums: Mapping[str, np.ndarray]):
    """All that was produced, and all that was sent, round by round."""
    figure, ax = sheet(8.5, 3.8)
    for (name, values), stroke in zip(sums.items(), strokes(len(sums)), strict=True):
        ax.plot(np.arange(1, len(values) + 1), values, drawstyle="steps-post", label=name, **stroke)
    ax.set(xlabel="round", ylabel="sum so far")
    ax.legend()
    return figure


@themed
def crossovers(whole: int, costs: Sequence[Cost], low: float = 1e6, high: float = 2e10):
    """Seconds of one message against bandwidth: more expensive to make, shorter to send."""
    figure, ax = sheet(10.5, 5)
    speed = np.geomspace(low, high, 200)
    ax.loglog(speed, whole / speed, color=BLACK, linewidth=3, label="float32, as it is")
    for cost, stroke in zip(costs, strokes(len(costs)), strict=True):
        ax.loglog(speed, cost.spent + cost.nbytes / speed, label=cost.name, **stroke)
    top = ax.get_ylim()[1]
    for name, net in PRESETS.items():
        if isinstance(net, Switch) and low < net.link.bandwidth < high:
            ax.axvline(net.link.bandwidth, color=GREY, linewidth=1, linestyle=":")
            ax.annotate(name.replace("_", " "), (net.link.bandwidth, top), (3, -4), rotation=90, va="top",
                        textcoords="offset points", color=GREY, fontsize="small")  # fmt: skip
    ax.set(xlabel="bandwidth of the link, bytes/s", ylabel="encode + send + decode, s")
    figure.legend(loc="outside right upper")
    return figure


@themed
def gathering(ranks: Sequence[int], bits: Sequence[int]):
    """Bytes that a rank sends, in vectors of float32: packets gathered, against the ring's all-reduce."""
    figure, ax = sheet(8.5, 4.2)
    n = np.asarray(ranks, float)
    ax.plot(n, ring_bytes(n, 1.0), color=BLACK, linewidth=3, label="float32, ring")
    for b, stroke in zip(bits, strokes(len(bits)), strict=True):
        ax.plot(n, gathered_bytes(n, b / 32), label=f"{b} bit{'s' * (b > 1)}, gathered", **stroke)
        if n[0] <= 64 / b <= n[-1]:
            ax.plot(64 / b, ring_bytes(64 / b, 1.0), "o", color=ORANGE, markersize=9)
    ax.set(xlabel="ranks N", ylabel="bytes sent by a rank, in S", ylim=(0, 6))
    ax.legend(title="dots: N = 64 / bits")
    return figure


@themed
def learning(runs: Mapping[str, object], what: str = "loss"):
    """Test loss or accuracy over rounds, of several outcomes."""
    figure, ax = sheet(10, 4.4)
    for (name, run), stroke in zip(runs.items(), strokes(len(runs)), strict=True):
        ax.plot([m.t + 1 for m in run.measured], [getattr(m, what) for m in run.measured], label=name, **stroke)
    ax.set(xlabel="round", ylabel=f"test {what}")
    figure.legend(loc="outside right upper")
    return figure
