"""What reading a whole hand-in may cost: files, folders in folders, bytes that come out. Archives inside share it."""

from __future__ import annotations

from dataclasses import dataclass


class Unsafe(ValueError):
    """A hand-in that is not read: a sentence that says why."""


@dataclass
class Budget:
    """What is left. Bytes are counted as they come out of archives, not as these claim."""

    bytes: int = 96 << 20
    files: int = 50_000
    depth: int = 32  # folders in folders
    nested: int = 2  # archives in archives

    def spend(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            raise Unsafe(f"it grows to more than {Budget.bytes >> 20} MB when it is unpacked")

    def list(self, count: int = 1) -> None:
        self.files -= count
        if self.files < 0:
            raise Unsafe(f"it holds more than {Budget.files} files: hand in the program alone")

    def descend(self, depth: int) -> None:
        if depth > self.depth:
            raise Unsafe(f"its folders lie more than {self.depth} deep")
