"""The sessions that BEGIN creates: for an image or a patch that is stored in flash, and for data that is only
counted."""

from __future__ import annotations

import zlib

from ota_flash import Flash, FlashFault, Work
from ota_patch import Boundary, Decoder, PartMismatch, PatchRefused
from ota_record import Offer, ResumePoint, ResumeRecord

WINDOW_MAXIMUM = 0xFFFF
PAGE_ATTEMPTS = 3  # attempts to fill a page before the flash counts as faulty


class SinkSession:
    """Counts bytes and computes their CRC32; does not access flash."""

    def __init__(self, offer: Offer, buffer_size: int):
        self.offer = offer
        self.window = min(buffer_size, WINDOW_MAXIMUM)
        self.next = 0
        self.crc = 0

    @property
    def size(self) -> int:
        return self.offer.size

    @property
    def durable(self) -> int:
        return self.next

    @property
    def row_ready(self) -> bool:
        return False

    def accept(self, data: bytes) -> None:
        self.crc = zlib.crc32(data, self.crc)
        self.next += len(data)


class FlashSession:
    """An image that is being received: its bytes are in flash up to `programmed`, and in RAM up to
    `next`."""

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
    def size(self) -> int:
        """The number of bytes to receive through Data."""
        return self.offer.size

    @property
    def window(self) -> int:
        return min(self._buffer_size - len(self._buffer), WINDOW_MAXIMUM)

    @property
    def point(self) -> ResumePoint:
        return ResumePoint(self.offer, self.durable, self.prefix_crc(self.durable))

    @property
    def row_ready(self) -> bool:
        """Whether a row can be programmed: a complete row, or the last row."""
        whole = self.next == self.offer.size
        return len(self._buffer) >= self._flash.row_size or bool(whole and self._buffer)

    def accept(self, data: bytes) -> None:
        self.crc = zlib.crc32(data, self.crc)
        self.next += len(data)
        self._buffer += data

    def program_row(self) -> Work:
        """Moves a row from RAM to flash; if the page does not hold its data, the session goes back.

        Raises FlashFault if a page failed too often, or if the record cannot be written.
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
        """Discards the data after offset, which is the start of a page."""
        if offset > self.programmed:
            del self._buffer[offset - self.programmed :]
            self.next, self.crc = offset, zlib.crc32(self._buffer, self._programmed_crc)
            return
        self._go_back_to(offset)
        if offset < self.durable:
            self.durable = offset
            # The new record must be complete before a page is erased that the marks of the old record cover.
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


class PatchSession:
    """A stream that is being received: data that waits for the flash stays encoded."""

    def __init__(
        self,
        point: ResumePoint,
        flash: Flash,
        slot: int,
        record: ResumeRecord,
        buffer_size: int,
        base: bytes,
        bits: tuple[int, int],
    ):
        self.offer = point.offer
        self._flash = flash
        self._slot = slot
        self._record = record
        self._buffer_size = buffer_size
        self._base = base
        self._bits = bits
        self._failures = 0
        self._has_mismatched = False
        self._restart(point)

    def _restart(self, point: ResumePoint) -> None:
        """Continues at the start of a part."""
        self.point = point
        self.next = self._decoded = point.stream_offset
        self.crc = self._decoded_crc = point.stream_crc
        self._programmed = point.offset
        self._buffer = bytearray()
        self._row = b""
        self._decoder = Decoder(
            self._base,
            self.offer.size,
            self.size,
            self._flash.page_size,
            *self._bits,
            Boundary(point.stream_offset, point.offset, point.crc),
        )
        self._can_decode = False

    @property
    def size(self) -> int:
        return self.offer.stream.size

    @property
    def durable(self) -> int:
        return self.point.stream_offset

    @property
    def window(self) -> int:
        return min(
            self._buffer_size - self._flash.row_size - len(self._buffer), WINDOW_MAXIMUM
        )

    @property
    def row_ready(self) -> bool:
        return self._can_decode

    def accept(self, data: bytes) -> None:
        self.crc = zlib.crc32(data, self.crc)
        self.next += len(data)
        self._buffer += data
        self._can_decode = True

    def program_row(self) -> Work:
        """Decodes up to a row and moves it to flash; after a failure goes back to the start of the part.

        Raises FlashFault as FlashSession does, and PatchRefused.
        """
        try:
            yield from self._decode_row()
        except FlashFault:
            self._failures += 1
            if self._failures == PAGE_ATTEMPTS:
                raise
            self._restart(self.point)
        except (PartMismatch, PatchRefused):
            if self._has_mismatched:
                raise PatchRefused("wrong bytes, twice") from None
            self._has_mismatched = True
            self._restart(self.point)

    def _decode_row(self) -> Work:
        room = min(self._flash.row_size, self.offer.size - self._programmed)
        used, made = self._decoder.feed(bytes(self._buffer), room - len(self._row) or 1)
        self._decoded_crc = zlib.crc32(self._buffer[:used], self._decoded_crc)
        self._decoded += used
        del self._buffer[:used]
        self._row += made
        boundary = self._decoder.boundary
        has_ended = boundary.image_offset > self.point.offset
        self._can_decode = bool(used or made)
        if room and len(self._row) == room:
            if self._programmed % self._flash.page_size == 0:
                yield from self._flash.erase(self._slot + self._programmed)
            yield from self._flash.program(self._slot + self._programmed, self._row)
            self._programmed += room
            self._row = b""
        if has_ended:
            assert self._programmed == boundary.image_offset
            yield from self._record.mark(
                boundary.image_offset, boundary.image_crc, self._decoded, self._decoded_crc
            )
            self.point = self._record.point
            self._failures, self._has_mismatched = 0, False

    def rewind(self, offset: int) -> Work:
        """Goes back to the start of the part in progress, or of the stream."""
        if offset < self.durable:
            self._restart(ResumePoint(self.offer, 0, 0))
            yield from self._record.write(self.point)
        else:
            self._restart(self.point)

    def prefix_crc(self, size: int) -> int:
        return zlib.crc32(self._flash.read(self._slot, size))
