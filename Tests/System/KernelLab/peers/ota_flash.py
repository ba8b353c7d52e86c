"""A NOR flash: pages are erased to 0xFF, rows are programmed completely and once after each erase."""

from __future__ import annotations

import mmap
from collections.abc import Generator
from dataclasses import dataclass

# A type for work on the flash. It yields the time of each operation in seconds, after the
# operation, and runs to its end unless the power fails.
Work = Generator[float, None, None]

ERASED = 0xFF


class FlashFault(Exception):
    """An operation failed, or a row read back differently than it was programmed."""


@dataclass(frozen=True)
class Timing:
    """The time of each operation, in seconds."""

    erase: float = 0.020
    program: float = 0.0004
    read_page: float = 0.0002


class Flash:
    """The cells, with the two rules of a real chip that a file does not have.

    A row counts as blank only after an erase whose end this run of the device observed, because an
    interrupted erase leaves cells that may read as 0xFF but do not hold programmed content.
    """

    def __init__(
        self, cells: bytearray | mmap.mmap, page_size: int, row_size: int, timing: Timing = Timing()
    ):
        assert page_size % row_size == 0 and len(cells) % page_size == 0
        self.cells = cells
        self.page_size = page_size
        self.row_size = row_size
        self.timing = timing
        self._blank: set[int] = set()

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self.cells[offset : offset + size])

    def erase(self, offset: int) -> Work:
        """Erases the page at offset, and checks that it is blank."""
        assert offset % self.page_size == 0, f"no page starts at {offset:#x}"
        rows = range(offset, offset + self.page_size, self.row_size)
        self._blank.difference_update(rows)
        self._erase_cells(offset)
        self._blank.update(rows)
        yield self.timing.erase
        if any(cell != ERASED for cell in self.read(offset, self.page_size)):
            raise FlashFault(f"page {offset:#x} did not erase")

    def program(self, offset: int, data: bytes) -> Work:
        """Programs the row at offset, padded with 0xFF, and reads it back."""
        assert offset % self.row_size == 0, f"no row starts at {offset:#x}"
        assert 0 < len(data) <= self.row_size
        assert offset in self._blank, f"row {offset:#x} was not erased"
        row = data.ljust(self.row_size, bytes([ERASED]))
        self._blank.remove(offset)
        self._program_cells(offset, row)
        yield self.timing.program
        if self.read(offset, self.row_size) != row:
            raise FlashFault(f"row {offset:#x} did not hold")

    def _erase_cells(self, offset: int) -> None:
        self.cells[offset : offset + self.page_size] = bytes([ERASED]) * self.page_size

    def _program_cells(self, offset: int, row: bytes) -> None:
        self.cells[offset : offset + self.row_size] = row
