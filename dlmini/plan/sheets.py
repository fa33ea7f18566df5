"""Model sheets: a transformer by its shape alone. What it holds, and what a step of it computes, follows from that.

    a layer         12 h^2 + 13 h parameters: query, key, value; projection; up to 4 h; down again; two norms
    around them     an embedding of V h, which is also the last product (tied); perhaps positions; norms
Vaswani et al., Attention is all you need, 2017; shapes from the publications of BLOOM (2022), GPT-2, GPT-3 and
Megatron-LM (Narayanan et al., 2021; Korthikanti et al., 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from dlmini.checks import refuse, settle, text, truth, whole


class Tensor(NamedTuple):
    """An array of parameters. `layer`: 0, 1, ...; None for what is not in a layer."""

    name: str
    size: int
    layer: int | None = None


@dataclass(frozen=True)
class Sheet:
    """A transformer of so many `layers` of width `hidden`, with `heads`, on sequences of `sequence` tokens.

    positions: learned ones (GPT); False: none, as with ALiBi (BLOOM). embedding_norm: a norm behind the embedding.
    """

    name: str
    hidden: int
    layers: int
    heads: int
    vocabulary: int = 51200
    sequence: int = 2048
    positions: bool = True
    embedding_norm: bool = False
    dropout: bool = True

    def __post_init__(self):
        text(self.name, "name")
        for name in ("hidden", "layers", "heads", "vocabulary", "sequence"):
            settle(self, **{name: whole(getattr(self, name), name, 1)})
        for name in ("positions", "embedding_norm", "dropout"):
            settle(self, **{name: truth(getattr(self, name), name)})
        if self.hidden % self.heads:
            raise ValueError(f"hidden is {self.hidden}, but heads is {self.heads}: every head has an equal part of it")

    @property
    def layer_parameters(self) -> int:
        return 12 * self.hidden**2 + 13 * self.hidden

    @property
    def embedding_parameters(self) -> int:
        """Before the first layer: words, positions, a norm."""
        places = self.sequence * self.positions + 2 * self.embedding_norm
        return (self.vocabulary + places) * self.hidden

    @property
    def parameters(self) -> int:
        return self.embedding_parameters + self.layers * self.layer_parameters + 2 * self.hidden

    def tensors(self) -> list[Tensor]:
        """Every array, in the order of the forward pass."""
        h = self.hidden
        found = [Tensor("words", self.vocabulary * h)]
        found += [Tensor("positions", self.sequence * h)] * self.positions
        found += norm("embedding", None, h) * self.embedding_norm
        for layer in range(self.layers):
            found += norm("attention", layer, h)
            found += linear("query, key, value", layer, h, 3 * h) + linear("projection", layer, h, h)
            found += norm("feed", layer, h) + linear("up", layer, h, 4 * h) + linear("down", layer, 4 * h, h)
        return found + norm("last", None, h)

    def layer_share(self, tensor: int) -> int:
        """Parameters of one layer on each of `tensor` ranks: matrices and inner biases are cut, the rest is whole."""
        h = self.hidden
        return ceil((12 * h * h + 7 * h) / tensor) + 6 * h

    def word_share(self, tensor: int) -> int:
        """Rows of the embedding on each of `tensor` ranks; where they do not come out even, it is filled up."""
        return ceil(self.vocabulary / tensor)

    def stage_parameters(self, layers: int, tensor: int = 1, first: bool = False, last: bool = False) -> int:
        """Parameters on one rank of a stage. The tied embedding lies on the first and, if that is another, the last."""
        h, size = self.hidden, layers * self.layer_share(tensor)
        if first:
            size += self.word_share(tensor) * h + self.embedding_parameters - self.vocabulary * h
        if last:
            size += 2 * h + (0 if first else self.word_share(tensor) * h)
        return size

    def flops(self, batch: int, recompute: str = "none") -> float:
        """Of one step on `batch` sequences: two for each product, the way back twice the way there.

            72 B L s h^2 (1 + s / (6 h) + V / (12 h L))
        With recomputation the way there once more: of all layers (full), or of the attention (selective), which puts
        s / (4.5 h) in the place of s / (6 h).
        Korthikanti et al., Reducing activation recomputation in large transformer models, 2022.
        """
        s, h, rows = self.sequence, self.hidden, batch * self.sequence
        linear, attention, words = 24 * rows * self.layers * h * h, 4 * rows * self.layers * s * h, 2 * rows * h
        again = {"none": 0, "selective": attention, "full": linear + attention}[recompute]
        return 3.0 * (linear + attention + words * self.vocabulary) + again


def linear(name: str, layer: int, inner: int, outer: int) -> list[Tensor]:
    return [Tensor(f"{name} weight", inner * outer, layer), Tensor(f"{name} bias", outer, layer)]


def norm(name: str, layer: int | None, hidden: int) -> list[Tensor]:
    return [Tensor(f"{name} norm gain", hidden, layer), Tensor(f"{name} norm shift", hidden, layer)]


def bloom(name: str, hidden: int, layers: int, heads: int) -> Sheet:
    """BLOOM's own kind: ALiBi, a norm behind the embedding, no dropout, 250,880 words."""
    return Sheet(name, hidden, layers, heads, 250_880, positions=False, embedding_norm=True, dropout=False)


SHEETS = {
    sheet.name: sheet
    for sheet in (
        bloom("bloom-560m", 1024, 24, 16),
        bloom("bloom-7b1", 4096, 30, 32),
        bloom("bloom-176b", 14336, 70, 112),
        Sheet("gpt2", 768, 12, 12, 50257, 1024),
        Sheet("gpt2-xl", 1600, 48, 25, 50257, 1024),
        Sheet("gpt-22b", 6144, 48, 64),
        Sheet("gpt-175b", 12288, 96, 96),
        Sheet("gpt-530b", 20480, 105, 128),
        Sheet("gpt-1008b", 25600, 128, 160),
    )
}


def sheet_of(name) -> Sheet:
    """The sheet of this name; a sheet itself is returned as it is."""
    if isinstance(name, Sheet):
        return name
    if not isinstance(name, str) or name not in SHEETS:
        refuse(ValueError, "model", name, f"one of {', '.join(SHEETS)}, or a Sheet(...)")
    return SHEETS[name]
