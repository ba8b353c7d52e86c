"""The sessions that BEGIN makes: one that ends up in flash, and one that is only counted."""

from __future__ import annotations

import zlib

from ota_flash import Flash, FlashFault, Work
from ota_record import Offer, ResumePoint, ResumeRecord

WINDOW_MAXIMUM = 0xFFFF
PAGE_ATTEMPTS = 3  # to fill a page, before the flash counts as faulty


class SinkSession:
    """Octets are counted and their CRC32 is computed; no flash is touched."""

    def __init__(self, offer: Offer, buffer_size: int):
        self.offer = offer
        self.window = min(buffer_size, WINDOW_MAXIMUM)
        self.next = 0
        self.crc = 0

    @property
    def durable(self) -> int:
        return self.next

    @property
    def row_ready(self) -> bool:
        return False

    def accept(self, octets: bytes) -> None:
        self.crc = zlib.crc32(octets, self.crc)
        self.next += len(octets)


class FlashSession:
    """An image on its way into the slot: in flash up to `programmed`, in RAM up to `next`."""

    def __init__(
        self, point: ResumePoint, flash: Flash, slot: int, record: ResumeRecord, buffer_size: int
    ):
        self.offer = point.offer
        self.next = self.programmed = self.durable = point.offset
        self.crc = self._programmed_crc = point.crc
        self._flash = flash
        self._slot = slot
        self._record = record
        self._buffer = bytearray()
        self._buffer_size = buffer_size
        self._failures = 0

    @property
    def window(self) -> int:
        return min(self._buffer_size - len(self._buffer), WINDOW_MAXIMUM)

    @property
    def point(self) -> ResumePoint:
        return ResumePoint(self.offer, self.durable, self.prefix_crc(self.durable))

    @property
    def row_ready(self) -> bool:
        """Whether a row can be programmed: a full one, or the last."""
        whole = self.next == self.offer.size
        return len(self._buffer) >= self._flash.row_size or bool(whole and self._buffer)

    def accept(self, octets: bytes) -> None:
        self.crc = zlib.crc32(octets, self.crc)
        self.next += len(octets)
        self._buffer += octets

    def program_row(self) -> Work:
        """Moves a row from RAM to flash; a page that would not hold it sends the session back.

        Throws FlashFault once a page failed too often, or the record cannot be written.
        """
        try:
            yield from self._program_row()
        except FlashFault:
            self._failures += 1
            if self._failures == PAGE_ATTEMPTS:
                raise
            self._go_back_to(self.programmed - self.programmed % self._flash.page_size)
            return
        if self.programmed % self._flash.page_size == 0 or self.programmed == self.offer.size:
            self._failures = 0
            yield from self._record.mark(self.programmed, self._programmed_crc)
            self.durable = self.programmed

    def rewind(self, offset: int) -> Work:
        """Discards what comes after offset, which is that of a page."""
        if offset > self.programmed:
            del self._buffer[offset - self.programmed :]
            self.next, self.crc = offset, zlib.crc32(self._buffer, self._programmed_crc)
            return
        self._go_back_to(offset)
        if offset < self.durable:
            self.durable = offset
            # Before any page that its marks cover is erased.
            yield from self._record.write(self.point)

    def prefix_crc(self, size: int) -> int:
        return zlib.crc32(self._flash.read(self._slot, size))

    def _program_row(self) -> Work:
        if self.programmed % self._flash.page_size == 0:
            yield from self._flash.erase(self._slot + self.programmed)
        row = bytes(self._buffer[: self._flash.row_size])
        yield from self._flash.program(self._slot + self.programmed, row)
        del self._buffer[: len(row)]
        self.programmed += len(row)
        self._programmed_crc = zlib.crc32(row, self._programmed_crc)

    def _go_back_to(self, offset: int) -> None:
        self._buffer.clear()
        self.next = self.programmed = offset
        self.crc = self._programmed_crc = self.prefix_crc(offset)
