"""The decoder of patch streams, written only from docs/delta.md. Its input is the bytes of the stream, its
output the bytes of the image."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Generator
from dataclasses import dataclass

HEADER = struct.Struct("<IIII")  # image offset, bytes created, bytes of the patch, crc of the image so far
NUMBER_BITS = 31
EMPTY_TRIPLES_MAXIMUM = 64
NONE, CRLE, HEATSHRINK = 0, 2, 4

# A piece of the decoder. It yields None to request a byte of the stream, or yields bytes of the
# image.
Steps = Generator[bytes | None, int | None, None]


class PatchRefused(Exception):
    """The format does not permit this stream."""


class PartMismatch(Exception):
    """A part created bytes other than the announced ones."""


@dataclass(frozen=True)
class Stream:
    """The stream that PATCH announces."""

    base_size: int
    base_crc: int
    size: int
    crc: int


@dataclass(frozen=True)
class Boundary:
    """The end of a part: the complete state between two parts."""

    stream_offset: int
    image_offset: int
    image_crc: int


def refuse_unless(condition: bool, what: str) -> None:
    if not condition:
        raise PatchRefused(what)


class Part:
    """The decoder of one part: `steps` yields None for each byte that it needs."""

    def __init__(self, decoder: Decoder):
        self._decoder = decoder
        self._patch_left = HEADER.size
        self._plain = self._stored()
        self._run_left = 0
        self._bits = 0
        self._bit_count = 0

    def steps(self) -> Steps:
        decoder = self._decoder
        header = yield from self._bytes(HEADER.size)
        offset, size, self._patch_left, self.crc = HEADER.unpack(header)
        left = decoder.image_size - decoder.boundary.image_offset
        stream_left = decoder.stream_size - decoder.boundary.stream_offset - HEADER.size
        refuse_unless(offset == decoder.boundary.image_offset, "wrong start")
        refuse_unless(0 < size <= left, "end outside the image")
        refuse_unless(size == left or size % decoder.page_size == 0, "end within a page")
        refuse_unless(self._patch_left <= stream_left, "end after the stream")
        refuse_unless((size == left) == (self._patch_left == stream_left), "the last part is another")
        self.size = size
        yield from self._patch()

    def _patch(self) -> Steps:
        (codec,) = yield from self._bytes(1)
        refuse_unless(codec in (NONE, CRLE, HEATSHRINK), "an unknown codec")
        negative, size = yield from self._number()
        refuse_unless(not negative and size == self.size, "another size")
        if codec == CRLE:
            self._plain = self._runs()
        elif codec == HEATSHRINK:
            (sizes,) = yield from self._bytes(1)
            window, lookahead = (sizes >> 4) + 4, (sizes & 15) + 3
            refuse_unless(lookahead < window <= self._decoder.window_bits, "its window")
            refuse_unless(lookahead <= self._decoder.lookahead_bits, "its lookahead")
            self._plain = self._references(window, lookahead)
        _, data_format = yield from self._number()
        refuse_unless(data_format == 0, "a data format")
        yield from self._triples(size)
        rest = self._patch_left or self._run_left or self._bits
        refuse_unless(not rest, "more than the image")

    def _triples(self, left: int) -> Steps:
        base, place, empty = self._decoder.base, 0, 0
        while True:
            negative, count = yield from self._number()
            refuse_unless(not negative and count <= left, "a difference")
            refuse_unless(count <= len(base) - place, "a difference outside the base")
            left -= count
            for value in base[place : place + count]:
                more = yield from self._next_value()
                yield bytes([(value + more) & 0xFF])
            place += count
            negative, extra = yield from self._number()
            refuse_unless(not negative and extra <= left, "new bytes")
            left -= extra
            for _ in range(extra):
                value = yield from self._next_value()
                yield bytes([value])
            negative, seek = yield from self._number()
            if left == 0:
                return
            empty = 0 if count or extra else empty + 1
            refuse_unless(empty <= EMPTY_TRIPLES_MAXIMUM, "only empty triples")
            place += -seek if negative else seek
            refuse_unless(0 <= place <= len(base), "a seek")

    def _number(self):
        value = yield from self._next_value()
        negative, number, shift = bool(value & 0x40), value & 0x3F, 6
        while value & 0x80:
            value = yield from self._next_value()
            number = self._grown(number, value & 0x7F, shift)
            shift += 7
        return negative, number

    @staticmethod
    def _grown(number: int, bits: int, shift: int) -> int:
        number |= bits << shift
        refuse_unless(shift < NUMBER_BITS and number < 1 << NUMBER_BITS, "too large a number")
        return number

    # The codecs. Each yields None, or one byte that it created.

    def _next_value(self):
        """Returns the next decompressed byte."""
        while True:
            try:
                made = next(self._plain)
                while made is None:
                    made = self._plain.send((yield None))
                return made[0]
            except StopIteration:
                raise PatchRefused("it is too short") from None

    def _bytes(self, count: int):
        data = bytearray()
        while len(data) < count:
            value = yield from self._take()
            data.append(value)
        return bytes(data)

    def _take(self):
        refuse_unless(self._patch_left > 0, "it is too short")
        value = yield None
        self._patch_left -= 1
        return value

    def _stored(self) -> Steps:
        while True:
            value = yield from self._take()
            yield bytes([value])

    def _runs(self) -> Steps:
        while True:
            kind = yield from self._take()
            refuse_unless(kind <= 1, "an unknown block")
            count, shift, more = 0, 0, 0x80
            while more & 0x80:
                more = yield from self._take()
                count = self._grown(count, more & 0x7F, shift)
                shift += 7
            value = (yield from self._take()) if kind else 0
            self._run_left = count
            while self._run_left:
                if not kind:
                    value = yield from self._take()
                self._run_left -= 1
                yield bytes([value])

    def _references(self, window: int, lookahead: int) -> Steps:
        past = bytearray(1 << window)
        while True:
            if (yield from self._read_bits(1)):
                value = yield from self._read_bits(8)
                past = past[1:] + bytes([value])
                yield bytes([value])
                continue
            # Both fields are read together, because no byte of the image is created before both are
            # complete.
            both = yield from self._read_bits(window + lookahead)
            distance = (both >> lookahead) + 1
            self._run_left = (both & ((1 << lookahead) - 1)) + 1
            while self._run_left:
                value = past[-distance]
                past = past[1:] + bytes([value])
                self._run_left -= 1
                yield bytes([value])

    def _read_bits(self, count: int):
        while self._bit_count < count:
            value = yield from self._take()
            self._bits = self._bits << 8 | value
            self._bit_count += 8
        self._bit_count -= count
        bits, self._bits = self._bits >> self._bit_count, self._bits & ((1 << self._bit_count) - 1)
        return bits


class Decoder:
    """The decoder of all parts of a stream, starting at a boundary between two parts."""

    def __init__(
        self,
        base: bytes,
        image_size: int,
        stream_size: int,
        page_size: int,
        window_bits: int,
        lookahead_bits: int,
        boundary: Boundary = Boundary(0, 0, 0),
    ):
        self.base = base
        self.image_size = image_size
        self.stream_size = stream_size
        self.page_size = page_size
        self.window_bits = window_bits
        self.lookahead_bits = lookahead_bits
        self.boundary = boundary
        self._offset, self._crc = boundary.stream_offset, boundary.image_crc
        self._steps: Steps | None = None

    @property
    def is_complete(self) -> bool:
        return self.boundary.image_offset == self.image_size

    def feed(self, data: bytes, room: int) -> tuple[int, bytes]:
        """Decodes until all input is used, `room` bytes of the image are created, or a part ends.

        Returns the number of used bytes, and the created bytes. Raises PatchRefused, PartMismatch.
        """
        used, made = 0, bytearray()
        while not self.is_complete and len(made) < room:
            if self._steps is None:
                self._part = Part(self)
                self._steps, self._wants = self._part.steps(), False
            try:
                if self._wants:
                    if used == len(data):
                        if self._offset == self.stream_size:
                            raise PatchRefused("the stream ends within a part")
                        break
                    output = self._steps.send(data[used])
                    used += 1
                    self._offset += 1
                else:
                    output = next(self._steps)
            except StopIteration:
                if self._wants:
                    used += 1
                    self._offset += 1
                self._end_part()
                break
            self._wants = output is None
            if output is not None:
                made += output
                self._crc = zlib.crc32(output, self._crc)
        return used, bytes(made)

    def _end_part(self) -> None:
        self._steps = None
        if self._crc != self._part.crc:
            raise PartMismatch
        offset = self.boundary.image_offset + self._part.size
        self.boundary = Boundary(self._offset, offset, self._crc)


def applied(
    stream: bytes, base: bytes, image_size: int, page_size: int, window_bits: int = 11
) -> bytes:
    """Returns the image that a complete stream creates."""
    decoder = Decoder(base, image_size, len(stream), page_size, window_bits, 11)
    image, at = b"", 0
    while not decoder.is_complete:
        used, made = decoder.feed(stream[at:], image_size)
        image, at = image + made, at + used
    return image
