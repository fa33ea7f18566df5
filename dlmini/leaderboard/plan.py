"""What an entry wants, read from the words that its `recipe` returned: by the same words as on the command line."""

from __future__ import annotations

from dataclasses import replace

from dlmini import command_words as words
from dlmini.leaderboard.own_pieces import OwnWords, own_mixing
from dlmini.leaderboard.terms import ENCODING, OTHERS, Terms
from dlmini.leaderboard.voices import Unfit
from dlmini.recipe import Recipe
from dlmini.topology import Gossip
from dlmini.topology.own import Own

WORDS = ("sync", "topology", "compress", "optimizer", "outer", "rounds", "feedback")
LOOKS = 16  # at the test set, in a run, or a few more
LONGEST = 200  # characters of a word and what follows it


def read_plan(found, terms: Terms, seed: int, voices, nobody: int) -> Recipe:
    """The recipe, or a sentence."""
    if not isinstance(found, dict):
        raise Unfit(f"recipe returned {found!r:.80}; it returns a dict such as {{'sync': 'local:4', 'rounds': 40}}")
    unknown = [str(key) for key in found if key not in WORDS]
    if unknown:
        raise Unfit(f"recipe names {', '.join(unknown[:5])}; it may name {', '.join(WORDS)}")
    try:
        return bounded(made(found, seed, voices, nobody), terms)
    except (ValueError, TypeError) as error:
        raise Unfit(f"recipe: {error}") from error


def made(found: dict, seed: int, voices, nobody: int) -> Recipe:
    """Own pieces by the word `own`; what is not said is bulk-synchronous, all-reduce, whole, SGD(0.05)."""
    pieces = {"sync": words.read_sync(text(found, "sync", "bsp"))}
    named = text(found, "topology", "allreduce")
    own = Own(own_mixing(voices, nobody)) if named == "own" else None
    pieces["topology"] = Gossip(graph=own) if own else words.read_topology(named)
    brief = text(found, "compress", "none")
    pieces["compression"] = OwnWords() if brief == "own" else words.read_compression(brief)
    pieces["optimizer"] = words.read("optimiser", text(found, "optimizer", "sgd:0.05"), words.OPTIMIZERS)
    if "outer" in found:
        pieces["outer"] = words.read("optimiser", text(found, "outer", ""), words.OPTIMIZERS)
    rounds = found.get("rounds", 1)
    return Recipe(**pieces, rounds=rounds, feedback=found.get("feedback"), seed=seed)


def text(found: dict, name: str, otherwise: str) -> str:
    value = found.get(name, otherwise)
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r:.80}; it is a word, such as {otherwise!r}")
    if len(value) > LONGEST:
        raise ValueError(f"{name} has {len(value)} characters; a word has at most {LONGEST}")
    return value


def bounded(recipe: Recipe, terms: Terms) -> Recipe:
    """With looks at worker 0's weights: the mean of all would be an exchange that nobody pays for."""
    if recipe.rounds > terms.steps:
        raise ValueError(f"{recipe.rounds} rounds are more than the {terms.steps} steps of this world; ask for fewer")
    steps = recipe.steps(0, recipe.rounds)
    if steps > terms.steps:
        raise ValueError(f"{recipe.rounds} rounds are {steps} steps of a worker; {terms.steps} are allowed here")
    return replace(recipe, evaluate_every=max(1, recipe.rounds // LOOKS))


def encoding_seconds(recipe: Recipe, numbers: int) -> float:
    """What it takes whenever somebody encodes, by the table: the price of the dearest compressor that is named."""
    topology = recipe.topology
    named = (recipe.compression, getattr(topology, "back", None), getattr(topology, "compressor", None))
    prices = [nanoseconds(one) for one in named if one is not None]
    unnamed = OTHERS if topology.owns_codec and getattr(topology, "compressor", None) is None else 0.0
    return max(unnamed, *prices) * numbers / 1e9


def nanoseconds(compressor) -> float:
    """Per number: a compressor's own, and those of the one inside it."""
    inner = getattr(compressor, "inner", None)
    return ENCODING.get(compressor.word, OTHERS) + (nanoseconds(inner) if inner is not None else 0.0)
