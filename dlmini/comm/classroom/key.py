"""The key of a room: one line of text, which the lecturer shows and every PC types.

    key     the notebook's public key (32 bytes), a secret (16), a check sum (3)       68 letters behind a `k`

Both sides are CURVE's (Curve25519, XSalsa20, Poly1305): who joins knows by the public key that it is the notebook who
answers, and nobody else can, not even who holds the key too; the notebook knows callers by a key pair that is made of
the secret. The notebook's own half stays in a private file, so that a restarted notebook is the same room.

Bernstein, CurveCP, 2011; ZeroMQ's RFC 26 (CurveZMQ) and 27 (who may call).
"""

from __future__ import annotations

import base64
import os
import re
import secrets
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import platformdirs
import zmq
from zmq.utils import z85

PUBLIC, SECRET, CHECK = 32, 16, 3  # bytes
LETTERS = 4 * (PUBLIC + SECRET + CHECK) // 3
FILE = "classroom.key"


class Pair(NamedTuple):
    """A key pair, as libzmq writes it."""

    public: bytes
    secret: bytes


def pair_of(secret: bytes) -> Pair:
    """Any 32 bytes are a secret key."""
    written = z85.encode(secret)
    return Pair(zmq.curve_public(written), written)


class JoinKey(NamedTuple):
    """What the text says: the notebook's public key, and the key pair of those who join."""

    server: bytes
    members: Pair


class RoomKey(NamedTuple):
    """The notebook's own: 32 secret bytes, and the 16 that members have too."""

    own: bytes
    shared: bytes

    @property
    def server(self) -> Pair:
        return pair_of(self.own)

    @property
    def members(self) -> Pair:
        return members_of(self.shared)

    @property
    def text(self) -> str:
        """What PCs join with."""
        said = z85.decode(self.server.public) + self.shared
        return "k" + base64.urlsafe_b64encode(said + check_sum(said)).decode()


def members_of(shared: bytes) -> Pair:
    return pair_of(blake2b(shared, digest_size=32, person=b"dlmini members").digest())


def check_sum(data: bytes) -> bytes:
    return blake2b(data, digest_size=CHECK, person=b"dlmini key").digest()


def read_key(text: str) -> JoinKey:
    """The key that somebody typed; a ValueError if it was not copied whole."""
    letters = "".join(str(text).split())
    if not re.fullmatch(rf"k[\w-]{{{LETTERS}}}", letters, re.ASCII):
        found = f"{len(letters)} letters" if letters else "nothing"
        raise ValueError(f"this is no key of a room: it has {found}, a key {LETTERS + 1}, from k on; copy all of it")
    data = base64.urlsafe_b64decode(letters[1:])
    said, check = data[:-CHECK], data[-CHECK:]
    if check != check_sum(said):
        raise ValueError("a letter of this key is wrong; copy it again from the lecturer's screen")
    return JoinKey(z85.encode(said[:PUBLIC]), members_of(said[PUBLIC:]))


def new_key() -> RoomKey:
    return RoomKey(secrets.token_bytes(32), secrets.token_bytes(SECRET))


def key_file(file: str | Path | None = None) -> Path:
    """Where a notebook's own half is kept: this user's file for all rooms, unless another is named."""
    return Path(file) if file else Path(platformdirs.user_data_dir("dlmini", appauthor=False)) / FILE


def kept_key(file: Path, renew: bool = False) -> RoomKey:
    """The key of this file, which only its owner may read; a new one if there is none yet, or if that is asked."""
    if renew:
        file.unlink(missing_ok=True)
    try:
        data = bytes.fromhex(file.read_text(encoding="ascii"))
    except FileNotFoundError:
        return written(file, new_key())
    except ValueError:
        data = b""
    if len(data) != 32 + SECRET:
        raise ValueError(f"{file} is no key of a room; delete it, and a new one is made")
    return RoomKey(data[:32], data[32:])


def written(file: Path, key: RoomKey) -> RoomKey:
    """Keep it. If another process was faster, its key is the room's."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f"{file.name}.{secrets.token_hex(6)}")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as out:
        out.write((key.own + key.shared).hex())
    try:
        os.link(aside, file)  # whole or not at all, and never over another
    except FileExistsError:
        return kept_key(file)
    except OSError:  # a file system without links
        os.replace(aside, file)
        return key
    finally:
        aside.unlink(missing_ok=True)
    return key
