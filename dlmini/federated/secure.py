"""Secure aggregation: the server learns the sum of the updates, and of no single one.

Every two clients i < j share a secret; from it both draw the same mask, which i adds and j subtracts. In the sum all
masks cancel. Updates become whole numbers first (fixed point), and sums are taken modulo 2^32: there a mask that is
uniform hides its update completely, and cancelling is exact.

    y_i = q(x_i) + sum_{j > i} m_ij - sum_{j < i} m_ij   (mod 2^32)
If a client drops out, the others reveal the secrets they shared with it, and the server takes their masks out. Here the
secrets are given; agreeing on them (Diffie-Hellman) and sharing them among the others (Shamir) is left out, and so is
an active server. Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning, CCS 2017.
"""

from __future__ import annotations

import numpy as np

from dlmini.checks import whole

BITS = 16  # behind the point


def mask(secret: int, size: int) -> np.ndarray:
    """What two clients with this secret both draw. For teaching: PCG64 is no cipher; a real system takes one."""
    return np.random.default_rng([whole(secret, "secret", 0), 29]).integers(0, 2**32, size, np.uint32)


def masked(client: int, update: np.ndarray, secrets: dict[int, int], clients: int) -> np.ndarray:
    """What a client sends. secrets: by the other client's number."""
    sent = quantised(update, clients)
    for other, secret in secrets.items():
        sent = sent + mask(secret, update.size) if other > client else sent - mask(secret, update.size)
    return sent


def quantised(update: np.ndarray, clients: int) -> np.ndarray:
    """Fixed point, in uint32. A sum of `clients` of them must fit: |x| < 2^(31 - BITS) / clients, when rounded too."""
    most = (2**31 - 1) // whole(clients, "clients", 1)
    points = np.round(np.asarray(update, np.float64) * 2**BITS)
    if not np.isfinite(points).all() or np.abs(points).max(initial=0) > most:
        limit = most / 2**BITS
        raise ValueError(f"an update must lie within ±{limit:g} to be summed over {clients} clients; clip it first")
    return points.astype(np.int64).astype(np.uint32)


def unmasked_sum(sent: dict[int, np.ndarray], lost: dict[int, dict[int, int]]) -> np.ndarray:
    """The sum of those who sent. lost: of each client that dropped out, the secrets that the others shared with it."""
    if not sent:
        raise ValueError("nobody has sent anything; there is no sum to unmask")
    if both := sent.keys() & lost.keys():
        raise ValueError(f"client {min(both)} has sent, so its masks cancel; with its secrets its update would be bare")
    total = np.zeros_like(next(iter(sent.values())))
    for update in sent.values():
        total = total + update
    for gone, secrets in lost.items():
        for client in sent:
            one = mask(secrets[client], total.size)
            total = total - one if gone > client else total + one
    return total.astype(np.int32).astype(np.float64) / 2**BITS
