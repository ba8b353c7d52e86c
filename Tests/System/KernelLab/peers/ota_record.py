"""The resume record: the state of an incomplete image that survives a reset.

Two pages are used alternately. Each holds a header (a session, and a first point in it) followed by marks
that advance the point, one per row. The complete header with the higher sequence number is valid; a header
without a session states that no data is held.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from ota_flash import Flash, FlashFault, Work
from ota_patch import Stream

ATTEMPTS = 3  # attempts to write a record before the flash counts as faulty


@dataclass(frozen=True)
class Offer:
    """The description of an image in BEGIN; a session resumes only for an equal description."""

    size: int
    crc: int
    version: bytes  # major u8, minor u8, patch u16
    hardware: int
    stream: Stream | None = None  # the stream of patches that creates the image


@dataclass(frozen=True)
class ResumePoint:
    offer: Offer
    offset: int  # the number of image bytes in flash
    crc: int  # the CRC32 of these bytes
    stream_offset: int = 0  # the number of stream bytes that created them
    stream_crc: int = 0


class ResumeRecord:
    MAGIC = b"otaR"
    # The header: magic, sequence, size, crc, version, hardware; the stream, whose size is 0 if it
    # is absent; a mark.
    HEADER = struct.Struct("<4sIII4sI" + "IIII" + "IIII")
    MARK = struct.Struct("<IIII")  # offset, crc of the bytes before it; the same of the stream
    CHECK = struct.Struct("<I")

    def __init__(self, flash: Flash):
        """Reads the record in the first two pages of the flash."""
        self.flash = flash
        self._header_rows = -(-(self.HEADER.size + self.CHECK.size) // flash.row_size)
        assert self.MARK.size + self.CHECK.size <= flash.row_size
        assert self._header_rows < flash.page_size // flash.row_size
        headers = [(self._header(page), page) for page in (0, flash.page_size)]
        whole = [(header, page) for header, page in headers if header is not None]
        self.point: ResumePoint | None = None
        self._sequence, self._page = 0, flash.page_size
        if whole:
            (self._sequence, self.point), self._page = max(whole, key=lambda pair: pair[0][0])
        if self.point is not None:
            self.point = self._last_mark(self.point)
        # Rows of a previous run are never continued, because the last one may be half programmed.
        self._next_row: int | None = None

    @property
    def takes_marks(self) -> bool:
        """Whether marks can be added to the current record."""
        return self._next_row is not None

    @property
    def covered(self) -> int:
        """The number of image bytes that the record covers."""
        return 0 if self.point is None else self.point.offset

    def write(self, point: ResumePoint | None) -> Work:
        """Writes a new record to the other page, so that one of the two records is complete at any
        moment."""
        for attempt in range(ATTEMPTS):
            try:
                yield from self._write(self.flash.page_size - self._page, point)
                return
            except FlashFault:
                if attempt == ATTEMPTS - 1:
                    raise

    def mark(self, offset: int, crc: int, stream_offset: int = 0, stream_crc: int = 0) -> Work:
        """Moves the point to offset. All bytes before it are in flash and were read back."""
        assert self.point is not None and offset > self.point.offset
        point = ResumePoint(self.point.offer, offset, crc, stream_offset, stream_crc)
        if self._next_row is None or self._next_row == self._page + self.flash.page_size:
            yield from self.write(point)
            return
        row, self._next_row = self._next_row, self._next_row + self.flash.row_size
        try:
            yield from self.flash.program(row, self._checked(self._mark(point)))
            self.point = point
        except FlashFault:
            yield from self.write(point)

    def forget(self) -> Work:
        """Discards the held session."""
        if self.point is not None:
            yield from self.write(None)

    def distrust(self) -> None:
        """Makes the next session write a new record, after a fault of the flash."""
        self._next_row = None

    def _write(self, page: int, point: ResumePoint | None) -> Work:
        if point is None:
            point = ResumePoint(Offer(0, 0, bytes(4), 0), 0, 0)
        offer, stream = point.offer, point.offer.stream or Stream(0, 0, 0, 0)
        header = self._checked(
            self.HEADER.pack(
                self.MAGIC,
                self._sequence + 1,
                offer.size,
                offer.crc,
                offer.version,
                offer.hardware,
                stream.base_size,
                stream.base_crc,
                stream.size,
                stream.crc,
                point.offset,
                point.crc,
                point.stream_offset,
                point.stream_crc,
            )
        )
        yield from self.flash.erase(page)
        for start in range(0, len(header), self.flash.row_size):
            yield from self.flash.program(page + start, header[start : start + self.flash.row_size])
        self._sequence += 1
        self._page, self.point = page, point if offer.size else None
        self._next_row = page + self._header_rows * self.flash.row_size

    def _header(self, page: int) -> tuple[int, ResumePoint | None] | None:
        data = self._unchecked(self.flash.read(page, self.HEADER.size + self.CHECK.size))
        if data is None:
            return None
        magic, sequence, size, crc, version, hardware, *rest = self.HEADER.unpack(data)
        if magic != self.MAGIC:
            return None
        stream = Stream(*rest[:4])
        offer = Offer(size, crc, version, hardware, stream if stream.size else None)
        point = ResumePoint(offer, *rest[4:])
        return sequence, point if size else None

    def _last_mark(self, point: ResumePoint) -> ResumePoint:
        rows = range(
            self._page + self._header_rows * self.flash.row_size,
            self._page + self.flash.page_size,
            self.flash.row_size,
        )
        for row in rows:
            data = self._unchecked(self.flash.read(row, self.MARK.size + self.CHECK.size))
            if data is None:
                break
            point = ResumePoint(point.offer, *self.MARK.unpack(data))
        return point

    def _mark(self, point: ResumePoint) -> bytes:
        return self.MARK.pack(point.offset, point.crc, point.stream_offset, point.stream_crc)

    def _checked(self, data: bytes) -> bytes:
        return data + self.CHECK.pack(zlib.crc32(data))

    def _unchecked(self, data: bytes) -> bytes | None:
        content, check = data[: -self.CHECK.size], data[-self.CHECK.size :]
        return content if self.CHECK.pack(zlib.crc32(content)) == check else None
