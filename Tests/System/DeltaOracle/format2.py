"""An independent decoder for streams of patches, written from docs/delta.md only.

usage: format2.py BASE STREAM IMAGE_SIZE OUT
       format2.py --self-test
"""

from __future__ import annotations

import struct
import sys
import zlib
from bisect import bisect_right
from typing import Final, Protocol

MASK: Final = 0xFFFFFFFF
NUMBER_LIMIT: Final = 1 << 31
EMPTY_TRIPLES: Final = 64
MAP_ENTRIES: Final = 128
PART_HEADER: Final = struct.Struct("<IIII")

# Classes of units (section 4.2). Classes 0 to 31 depend on the byte of the base.
BRANCH: Final = 32
POINTER: Final = 33
SINGLE: Final = 34

# Fields of numbers (section 4.3).
ORIGIN: Final = 0
START: Final = 1
SHIFT: Final = 2
SEEK: Final = 3
SIMILAR: Final = 4
NEW: Final = 5
SIGNED: Final = frozenset({ORIGIN, SHIFT, SEEK})
FIELD_NAMES: Final = ("origin", "count or start", "shift", "seek", "d", "e")


class Source(Protocol):
    """Bytes of a patch after its codec."""

    def byte(self) -> int: ...

    def finish(self) -> None:
        """Refuses bytes that are left."""


class Plain:
    """Codec 0, and the input of the other codecs."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    def byte(self) -> int:
        if self.position >= len(self.data):
            raise ValueError("the patch is shorter than its content")
        self.position += 1
        return self.data[self.position - 1]

    def finish(self) -> None:
        if self.position != len(self.data):
            raise ValueError("the patch is longer than its content")


class Crle:
    """Codec 2: blocks of literals and repetitions."""

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        self.left = 0
        self.repeated: int | None = None

    def length(self) -> int:
        value = 0
        shift = 0
        while True:
            byte = self.plain.byte()
            value |= (byte & 0x7F) << shift
            if value >= NUMBER_LIMIT:
                raise ValueError("a block length has more than 31 bits")
            if byte < 0x80:
                return value
            shift += 7

    def byte(self) -> int:
        while self.left == 0:
            kind = self.plain.byte()
            if kind > 1:
                raise ValueError(f"unknown kind of block {kind}")
            self.left = self.length()
            self.repeated = self.plain.byte() if kind == 1 else None
        self.left -= 1
        return self.plain.byte() if self.repeated is None else self.repeated

    def finish(self) -> None:
        if self.left:
            raise ValueError("the last block is longer than the content")
        self.plain.finish()


class Heatshrink:
    """Codec 4: literals and references in a stream of bits."""

    def __init__(self, plain: Plain, window_limit: int) -> None:
        header = plain.byte()
        self.window = (header >> 4) + 4
        self.lookahead = (header & 15) + 3
        if self.window > window_limit:
            raise ValueError(f"window {self.window} is not supported")
        if self.lookahead >= self.window:
            raise ValueError("the lookahead is not less than the window")
        self.plain = plain
        self.value = 0
        self.count = 0
        self.history = bytearray(1 << self.window)
        self.at = 0
        self.left = 0
        self.distance = 0

    def bits(self, number: int) -> int:
        while self.count < number:
            self.value = self.value << 8 | self.plain.byte()
            self.count += 8
        self.count -= number
        result = self.value >> self.count
        self.value &= (1 << self.count) - 1
        return result

    def byte(self) -> int:
        mask = len(self.history) - 1
        if self.left == 0:
            if self.bits(1):
                byte = self.bits(8)
                self.history[self.at] = byte
                self.at = (self.at + 1) & mask
                return byte
            self.distance = self.bits(self.window) + 1
            self.left = self.bits(self.lookahead) + 1
        self.left -= 1
        byte = self.history[(self.at - self.distance) & mask]
        self.history[self.at] = byte
        self.at = (self.at + 1) & mask
        return byte

    def finish(self) -> None:
        if self.left:
            raise ValueError("the last reference is longer than the content")
        if self.value:
            raise ValueError("padding bits that are not zero")
        self.plain.finish()


def read_number(source: Source) -> tuple[bool, int]:
    """A number of section 1: its sign and its magnitude."""
    byte = source.byte()
    negative = bool(byte & 0x40)
    value = byte & 0x3F
    shift = 6
    while byte & 0x80:
        byte = source.byte()
        value |= (byte & 0x7F) << shift
        if value >= NUMBER_LIMIT:
            raise ValueError("a number has more than 31 bits")
        shift += 7
    return negative, value


def read_signed(source: Source) -> int:
    negative, value = read_number(source)
    return -value if negative else value


def read_size(source: Source, name: str) -> int:
    negative, value = read_number(source)
    if negative:
        raise ValueError(f"{name} is negative")
    return value


def apply_sequential(source: Source, base: bytes, size: int, image: bytearray) -> None:
    """The content of format 1 (section 1)."""
    if read_size(source, "the size of the data format section"):
        raise ValueError("a data format section is not supported")
    end = len(image) + size
    position = 0
    empty = 0
    while True:
        start = len(image)
        similar = read_size(source, "d")
        if similar > end - len(image):
            raise ValueError("d exceeds the rest of the part")
        if similar > len(base) - position:
            raise ValueError("a difference to bytes outside the base")
        for byte in base[position : position + similar]:
            image.append((byte + source.byte()) & 0xFF)
        position += similar
        new = read_size(source, "e")
        if new > end - len(image):
            raise ValueError("e exceeds the rest of the part")
        for _ in range(new):
            image.append(source.byte())
        position += read_signed(source)
        if len(image) == end:
            return
        if not 0 <= position <= len(base):
            raise ValueError("a seek outside the base")
        empty = empty + 1 if len(image) == start else 0
        if empty > EMPTY_TRIPLES:
            raise ValueError("too many empty triples in a row")


class Coder(Protocol):
    """The content of format 2."""

    def number(self, field: int) -> int: ...

    def differences(self, kind: int, length: int) -> bytes: ...

    def new_byte(self, offset: int, previous: int) -> int: ...

    def finish(self) -> None: ...


class PlainCoder:
    """Head 0x44: the numbers and bytes of a heatshrink stream."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def number(self, field: int) -> int:
        if field in SIGNED:
            return read_signed(self.source)
        return read_size(self.source, FIELD_NAMES[field])

    def differences(self, kind: int, length: int) -> bytes:
        return bytes(self.source.byte() for _ in range(length))

    def new_byte(self, offset: int, previous: int) -> int:
        return self.source.byte()

    def finish(self) -> None:
        self.source.finish()


class Models:
    """A row of models: the probability of a zero bit, and the number of bits seen."""

    def __init__(self, count: int) -> None:
        self.p = [2048] * count
        self.n = [0] * count


RATES: Final = tuple(131072 // (2 * n + 3) for n in range(16))


class RangeCoder:
    """Head 0x48: the adaptive binary range coder (section 4.3)."""

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        self.range = MASK
        self.code = 0
        for _ in range(4):
            self.code = self.code << 8 | plain.byte()
        self.length = [Models(31) for _ in range(6)]
        self.sign = Models(6)
        self.flag = [Models(4) for _ in range(35)]
        self.difference = [Models(256) for _ in range(4)]
        self.extra = [[Models(256) for _ in range(3)] for _ in range(2)]
        self.history = 0

    def normalize(self) -> None:
        while self.range < 1 << 24:
            self.range <<= 8
            self.code = (self.code << 8 | self.plain.byte()) & MASK

    def bit(self, models: Models, index: int) -> int:
        self.normalize()
        p = models.p[index]
        n = models.n[index]
        rate = RATES[n]
        bound = (self.range >> 12) * p
        if self.code < bound:
            bit = 0
            self.range = bound
            models.p[index] = p + ((4096 - p) * rate >> 16)
        else:
            bit = 1
            self.code -= bound
            self.range -= bound
            models.p[index] = p - (p * rate >> 16)
        if n < 15:
            models.n[index] = n + 1
        return bit

    def plain_bit(self) -> int:
        self.normalize()
        self.range >>= 1
        if self.code < self.range:
            return 0
        self.code -= self.range
        return 1

    def tree(self, models: Models) -> int:
        node = 1
        while node < 256:
            node = node << 1 | self.bit(models, node)
        return node & 0xFF

    def number(self, field: int) -> int:
        length = 0
        while self.bit(self.length[field], length):
            length += 1
            if length > 30:
                raise ValueError("a number has more than 31 bits")
        value = 1
        for _ in range(length):
            value = value << 1 | self.plain_bit()
        value -= 1
        if field in SIGNED and value and self.bit(self.sign, field):
            return -value
        return value

    def differences(self, kind: int, length: int) -> bytes:
        wrong = self.bit(self.flag[kind], self.history)
        self.history = (self.history << 1 | wrong) & 3
        if not wrong:
            return bytes(length)
        first = 2 if kind == BRANCH else 0
        return bytes(self.tree(self.difference[first + i % 2]) for i in range(length))

    def new_byte(self, offset: int, previous: int) -> int:
        context = 0 if previous < 0x20 else 1 if previous < 0x80 else 2
        return self.tree(self.extra[offset % 2][context])

    def finish(self) -> None:
        self.normalize()
        if self.code:
            raise ValueError("the range coder does not end with code 0")
        self.plain.finish()


class AddressMap:
    """The shift of each address (section 4.1)."""

    def __init__(self, coder: Coder) -> None:
        count = coder.number(START)
        if count > MAP_ENTRIES:
            raise ValueError(f"the map has {count} entries")
        self.origin = coder.number(ORIGIN) & MASK if count else 0
        self.starts: list[int] = []
        self.shifts: list[int] = []
        start = 0
        shift = 0
        for index in range(count):
            distance = 2 * coder.number(START)
            if index and not distance:
                raise ValueError("two entries of the map have the same start")
            start += distance
            if start > MASK:
                raise ValueError("the start of an entry is not less than 2^32")
            shift = (shift + coder.number(SHIFT)) & MASK
            self.starts.append(start)
            self.shifts.append(shift)

    def shift(self, address: int) -> int:
        index = bisect_right(self.starts, address)
        return self.shifts[index - 1] if index else 0


def move_branch(data: bytes, source: int, target: int, addresses: AddressMap) -> bytes | None:
    """The predicted branch, or `None` if the four bytes are not a branch."""
    h, l = struct.unpack("<HH", data)
    if h & 0xF800 != 0xF000 or l & 0x9000 != 0x9000:
        return None
    s = h >> 10 & 1
    i1 = 1 ^ (l >> 13 & 1) ^ s
    i2 = 1 ^ (l >> 11 & 1) ^ s
    distance = s << 24 | i1 << 23 | i2 << 22 | (h & 0x3FF) << 12 | (l & 0x7FF) << 1
    if s:
        distance -= 1 << 25
    address = (addresses.origin + source + 4 + distance) & MASK
    moved = address + addresses.shift(address)
    distance = (moved - (addresses.origin + target + 4)) & MASK
    s = distance >> 24 & 1
    j1 = 1 ^ (distance >> 23 & 1) ^ s
    j2 = 1 ^ (distance >> 22 & 1) ^ s
    h = 0xF000 | s << 10 | (distance >> 12 & 0x3FF)
    l = (l & 0xD000) | j1 << 13 | j2 << 11 | (distance >> 1 & 0x7FF)
    return struct.pack("<HH", h, l)


def predict(
    base: bytes, source: int, target: int, left: int, addresses: AddressMap
) -> tuple[int, bytes]:
    """The class and the prediction of the unit at `source` (section 4.2)."""
    if source & 1 or target & 1 or left == 1:
        return SINGLE, base[source : source + 1]
    if left >= 4 and addresses.starts:
        data = base[source : source + 4]
        branch = move_branch(data, source, target, addresses)
        if branch is not None:
            return BRANCH, branch
        if source % 4 == 0 and target % 4 == 0:
            word = int.from_bytes(data, "little")
            shift = addresses.shift(word)
            if shift:
                return POINTER, ((word + shift) & MASK).to_bytes(4, "little")
    return base[source + 1] >> 3, base[source : source + 2]


def apply_mapped(coder: Coder, base: bytes, size: int, image: bytearray) -> None:
    """The content of format 2 (section 4.1)."""
    addresses = AddressMap(coder)
    first = len(image)
    end = first + size
    position = min(first, len(base))
    while len(image) < end:
        position += coder.number(SEEK)
        if not 0 <= position <= len(base):
            raise ValueError("a seek outside the base")
        similar = coder.number(SIMILAR)
        if similar > end - len(image):
            raise ValueError("d exceeds the rest of the part")
        if similar > len(base) - position:
            raise ValueError("a difference to bytes outside the base")
        stop = position + similar
        while position < stop:
            kind, guess = predict(base, position, len(image), stop - position, addresses)
            difference = coder.differences(kind, len(guess))
            image.extend((a + b) & 0xFF for a, b in zip(guess, difference, strict=True))
            position += len(guess)
        new = coder.number(NEW)
        if new > end - len(image):
            raise ValueError("e exceeds the rest of the part")
        if similar == 0 and new == 0:
            raise ValueError("an empty triple")
        for _ in range(new):
            previous = image[-1] if len(image) > first else 0
            image.append(coder.new_byte(len(image), previous))
        position += new


def apply_patch(
    patch: bytes, base: bytes, size: int, image: bytearray, window_limit: int = 14
) -> None:
    """Appends the bytes that one patch creates."""
    plain = Plain(patch)
    head = plain.byte()
    if head not in (0x00, 0x02, 0x04, 0x44, 0x48):
        raise ValueError(f"type or codec {head:02X} is not supported")
    stated = read_size(plain, "the size")
    if stated == 0:
        raise ValueError("the size is 0")
    if stated != size:
        raise ValueError("the size in the patch differs from the size in the header")
    if head in (0x44, 0x48):
        coder: Coder
        if head == 0x44:
            coder = PlainCoder(Heatshrink(plain, window_limit))
        else:
            coder = RangeCoder(plain)
        apply_mapped(coder, base, size, image)
        coder.finish()
        return
    source: Source = plain
    if head == 0x02:
        source = Crle(plain)
    elif head == 0x04:
        source = Heatshrink(plain, window_limit)
    apply_sequential(source, base, size, image)
    source.finish()


def apply(
    stream: bytes, base: bytes, image_size: int, page_size: int = 1, window_limit: int = 14
) -> bytes:
    """The image that a complete stream of parts creates (section 2)."""
    if image_size < 1:
        raise ValueError("the image is empty")
    image = bytearray()
    position = 0
    crc = 0
    while len(image) < image_size:
        if len(stream) - position < PART_HEADER.size:
            raise ValueError("the stream ends in the header of a part")
        offset, size, length, expected = PART_HEADER.unpack_from(stream, position)
        position += PART_HEADER.size
        if offset != len(image):
            raise ValueError("a part does not start at the end of the previous part")
        if size == 0:
            raise ValueError("a part creates no bytes")
        if size > image_size - offset:
            raise ValueError("a part ends outside the image")
        if size % page_size and offset + size != image_size:
            raise ValueError("a part ends within a page")
        if length > len(stream) - position:
            raise ValueError("a part has more bytes than the stream")
        apply_patch(stream[position : position + length], base, size, image, window_limit)
        position += length
        crc = zlib.crc32(memoryview(image)[offset:], crc)
        if crc != expected:
            raise ValueError("wrong CRC32 at the end of a part")
    if position != len(stream):
        raise ValueError("the stream continues after the last part")
    return bytes(image)


EXAMPLE_1: Final = {
    "none": "00 83 01 00 20" + "00" * 10 + "A0" + "00" * 21 + "03 4E 45 57 00 20"
    + "00" * 32 + "00 60",
    "CRLE": "02 83 01 00 02 00 20 01 0A 00 00 01 A0 01 15 00 00 06 03 4E 45 57 00 20"
    "01 21 00 00 01 60",
    "heatshrink 8,7": "04 83 01 44 80 48 01 42 74 02 02 90 3A 75 16 AE 25 16 00 2D 60",
    "heatshrink 10,8": "04 83 01 65 80 48 00 50 4E 80 10 0A 40 E9 D4 5A B8 25 0B 00 02 D6 00",
}
EXAMPLE_1_STREAM: Final = (
    "00 00 00 00 43 00 00 00 1E 00 00 00 8F F8 BA 74 02 83 01 00"
    "02 00 20 01 0A 00 00 01 A0 01 15 00 00 06 03 4E 45 57 00 20 01 21 00 00 01 60"
)
EXAMPLE_2_BASE: Final = (
    "00 04 00 20 11 00 00 08 21 00 00 08 2D 00 00 08 10 B5 00 F0 05 F8 00 F0 09 F8 10 BD"
    "21 00 00 08 01 20 70 47 00 F0 02 B8 11 00 00 08 02 20 70 47 00 04 00 20"
)
EXAMPLE_2_IMAGE: Final = (
    "00 04 00 20 11 00 00 08 25 00 00 08 31 00 00 08 10 B5 00 F0 07 F8 00 F0 0B F8 10 BD"
    "25 00 00 08 00 BF 00 BF 01 20 70 47 00 F0 02 B8 11 00 00 08 02 20 70 47 00 04 00 20"
)
EXAMPLE_2: Final = {
    "0x44": "44 38 41 81 60 00 05 01 C8 00 C6 81 04 85 51 20 12 00 F7 80 3E 09 00 DF 80 46"
    "89 14 0B 78 01 00",
    "0x48": "48 38 BF FF F7 FC 00 00 00 5F FF FF FB 8D 80 09 E3 F2 40 6A 6B 1B 88 9D 7F 19"
    "10 66 D9 50 00",
}
EXAMPLE_2_CONTENT: Final = (
    "02 80 80 80 80 01 90 80 80 40 04 0A 44 00 20" + "00" * 17
    + "00" * 15 + "04 00 BF 00 BF 44 14" + "00" * 10 + "00" * 11
)


def part(offset: int, size: int, patch: bytes, image: bytes) -> bytes:
    return PART_HEADER.pack(offset, size, len(patch), zlib.crc32(image)) + patch


def self_test() -> int:
    """Checks each vector of the document, and inputs that a decoder must refuse."""
    hexadecimal = bytes.fromhex
    base = bytes(range(64))
    image = bytes(base[:10] + b"\xaa" + base[11:32] + b"NEW" + base[32:])
    checks = 0

    def check(condition: bool, name: str) -> None:
        nonlocal checks
        checks += 1
        if not condition:
            raise AssertionError(name)

    def refused(patch: bytes, reason: str, old: bytes = base, new: bytes = image) -> None:
        refused_stream(part(0, len(new), patch, new), old, len(new), reason)

    def refused_stream(stream: bytes, old: bytes, size: int, reason: str, page: int = 1) -> None:
        nonlocal checks
        checks += 1
        try:
            apply(stream, old, size, page)
        except ValueError as error:
            if reason in str(error):
                return
            raise AssertionError(f"refused for {error}, not for {reason}") from error
        raise AssertionError(f"accepted: {reason}")

    check(zlib.crc32(b"123456789") == 0xCBF43926, "check value")
    check(zlib.crc32(base) == 0x100ECE8C, "base of 1.1")
    check(zlib.crc32(image) == 0x74BAF88F, "image of 1.1")
    for name, text in EXAMPLE_1.items():
        patch = hexadecimal(text)
        check(apply(part(0, 67, patch, image), base, 67) == image, name)
        refused(patch[:-1], "the patch is shorter")
        refused(patch + b"\0", "the patch is longer")
        refused(b"\x81" + patch[1:], "type or codec 81")
    stream = hexadecimal(EXAMPLE_1_STREAM)
    check(len(stream) == 46 and zlib.crc32(stream) == 0xDF24A08C, "stream of 11.1")
    check(apply(stream, base, 67) == image, "stream of 11.1")

    old = hexadecimal(EXAMPLE_2_BASE)
    new = hexadecimal(EXAMPLE_2_IMAGE)
    check(len(old) == 52 and len(new) == 56, "sizes of 4.4")
    for name, text in EXAMPLE_2.items():
        patch = hexadecimal(text)
        check(apply(part(0, 56, patch, new), old, 56) == new, name)
        refused(patch[:-1], "the patch is shorter", old, new)
        refused(patch + b"\0", "the patch is longer", old, new)
    packed = Heatshrink(Plain(hexadecimal(EXAMPLE_2["0x44"]), 2), 14)
    content = hexadecimal(EXAMPLE_2_CONTENT)
    check(bytes(packed.byte() for _ in content) == content, "content of 4.4")
    packed.finish()
    check((packed.window, packed.lookahead) == (8, 4), "heatshrink 8,4")

    # Limits of format 1. The image is one byte.
    one = b"\x05"
    end = "00 01 05 00"

    def accepted(text: str, name: str) -> None:
        check(apply(part(0, 1, hexadecimal(text), one), b"", 1) == one, name)

    def wrong(text: str, reason: str, old: bytes = b"") -> None:
        refused(hexadecimal(text), reason, old, one)

    accepted("00 01 00" + end, "plain")
    accepted("00 01 00" + "00 00 00" * 64 + end, "64 empty triples")
    accepted("00 01 00 00 01 05 7F", "last seek outside the base")
    accepted("00 81 00 80 80 00 80 00 81 80 80 80 80 80 80 00 05 40", "long numbers, seek -0")
    accepted("02 01 00 00 01 80 00 07 00 82 80 00 00 00 00 00 01 01 01 00 02 05 00",
             "CRLE with empty blocks and long lengths")
    wrong("00 01 00" + "00 00 00" * 65 + end, "too many empty triples")
    wrong("00 00 00 00 00 00", "the size is 0")
    wrong("00 41 00" + end, "the size is negative")
    wrong("00 02 00" + end, "the size in the patch differs")
    wrong("00 01 01 00" + end, "a data format section")
    wrong("00 01 00 00 41 05 00", "e is negative")
    wrong("00 01 00 41 05 00 00", "d is negative", b"\0")
    wrong("00 01 00 02 05 00 00 00", "d exceeds the rest", b"\0\0")
    wrong("00 01 00 00 02 05 05 00", "e exceeds the rest")
    wrong("00 01 00 01 05 00 00", "a difference to bytes outside")
    wrong("00 01 00 00 00 01" + end, "a seek outside the base")
    wrong("00 01 00 00 00 41" + end, "a seek outside the base", b"\0")
    wrong("00 01 00 00 00 80 80 80 80 10" + end, "a number has more than 31 bits")
    wrong("00 01 00 00 01 05 80 80 80 80 10", "a number has more than 31 bits")
    wrong("02 01 02 01 00", "unknown kind of block 2")
    wrong("02 01 00 80 80 80 80 08 00", "a block length has more than 31 bits")
    wrong("02 01 00 06 00 00 01 05 00 00", "the last block is longer")
    wrong("02 01 00 05 00 00 01 05 00 00 00", "the patch is longer")
    wrong("01 01 00" + end, "type or codec 01")
    wrong("10 01 00" + end, "type or codec 10")
    wrong("40 01 00" + end, "type or codec 40")
    wrong("42 01 00" + end, "type or codec 42")
    # Limits of heatshrink.
    for header, reason in (("B0", "window 15"), ("01", "the lookahead"), ("12", "the lookahead")):
        text = "04 83 01" + header + EXAMPLE_1["heatshrink 8,7"][12:]
        refused(hexadecimal(text), reason)
    padded = bytearray(hexadecimal(EXAMPLE_1["heatshrink 10,8"]))
    padded[-1] |= 1
    refused(bytes(padded), "padding bits")
    # Headers of parts.
    for offset, value, reason in (
        (0, 1, "does not start at the end"), (4, 0, "creates no bytes"),
        (4, 66, "the size in the patch differs"), (4, 68, "ends outside the image"),
        (8, 29, "the patch is shorter"), (8, 31, "more bytes than the stream"),
        (12, 0, "wrong CRC32"),
    ):
        changed = bytearray(stream)
        changed[offset] = value
        refused_stream(bytes(changed), base, 67, reason)
    refused_stream(stream, base, 66, "ends outside the image")
    refused_stream(stream, base, 68, "ends in the header")
    refused_stream(stream, base, 0, "the image is empty")
    refused_stream(stream, base, 68, "ends within a page", 4)
    refused_stream(stream + stream, base, 67, "continues after the last part")
    return checks


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        print(f"{self_test()} checks passed")
        return 0
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 64
    base_path, stream_path, size, out = arguments
    with open(base_path, "rb") as file:
        base = file.read()
    with open(stream_path, "rb") as file:
        stream = file.read()
    try:
        image = apply(stream, base, int(size))
    except ValueError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 65
    with open(out, "wb") as file:
        file.write(image)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
