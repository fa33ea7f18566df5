"""Which submissions look alike: a hint for a reader, nothing more.

A program becomes a sequence of tokens without names, comments and layout; every run of K tokens is a fingerprint. What
two programs share is measured against the shorter one, after what the exercise itself contains has been taken out.
After Schleimer, Wilkerson, Aiken, Winnowing: local algorithms for document fingerprinting, SIGMOD 2003 (without the
winnowing: a class is small).
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections import Counter
from itertools import combinations
from typing import NamedTuple

from dlmini.grade.submissions.collect import Submission

K = 12  # tokens of a fingerprint
LEAST = 30  # fingerprints below which two programs say too little to be compared
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


class Pair(NamedTuple):
    one: str
    other: str
    share: float


def similar(submissions: list[Submission], common: str = "", least: float = 0.8, most: int = 50) -> list[Pair]:
    """Pairs with at least this share of fingerprints in common, the most alike first. `common`: what all were given."""
    given, prints = Counter(fingerprints(common)), {}
    for s in submissions:
        own = set(Counter(fingerprints(s.source or "")) - given)
        if len(own) >= LEAST:
            prints[s.name] = own
    found = [Pair(a, b, shared(prints[a], prints[b])) for a, b in combinations(sorted(prints), 2)]
    return sorted((p for p in found if p.share >= least), key=lambda p: (-p.share, p.one, p.other))[:most]


def shared(a: set, b: set) -> float:
    return len(a & b) / min(len(a), len(b))


def fingerprints(source: str) -> list[int]:
    tokens = words(source)
    return [hash(tuple(tokens[i : i + K])) for i in range(len(tokens) - K + 1)]


def words(source: str) -> list[str]:
    """Keywords and operators as they are; every name, number and text by its kind alone."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.OP or keyword.iskeyword(token.string):
                found.append(token.string)
            elif token.type not in SKIPPED:
                found.append(tokenize.tok_name[token.type])
    except (tokenize.TokenError, SyntaxError):
        pass  # a program that breaks off is compared as far as it goes
    return found
