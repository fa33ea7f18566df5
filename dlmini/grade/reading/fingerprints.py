"""The fingerprints of a program: what is compared to find similar ones.

A program becomes a sequence of tokens without names, comments and layout; every run of K tokens is a fingerprint.
After Schleimer, Wilkerson, Aiken, Winnowing: local algorithms for document fingerprinting, SIGMOD 2003 (without the
winnowing: a class is small).
"""

from __future__ import annotations

import io
import keyword
import tokenize
from hashlib import blake2b

K = 12  # tokens of a fingerprint
LONGEST = 200_000  # characters of a program that are compared
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


def fingerprints(source: str) -> list[int]:
    """Numbers of 64 bits, the same on every machine."""
    tokens = words(source[:LONGEST])
    runs = ("\0".join(tokens[i : i + K]).encode() for i in range(len(tokens) - K + 1))
    return [int.from_bytes(blake2b(run, digest_size=8).digest(), "little") for run in runs]


def words(source: str) -> list[str]:
    """Keywords and operators as they are; every name, number and text by its kind alone."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.OP or keyword.iskeyword(token.string):
                found.append(token.string)
            elif token.type not in SKIPPED:
                found.append(tokenize.tok_name[token.type])
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass  # a program that breaks off is compared as far as it goes
    return found
