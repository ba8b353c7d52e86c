#!/usr/bin/env python3
"""A decoder of format 2, written only from docs/delta.md (sections 2 and 4).

usage: format2.py OLD STREAM NEW   applies a stream of parts and writes the image
"""
import sys
import zlib


class Refused(Exception):
    """The patch violates the format."""


class Heatshrink:
    """The decompressed bytes of a heatshrink stream, and the numbers of section 1."""

    SIGNED = {"origin", "shift", "seek"}

    def __init__(self, data):
        if not data:
            raise Refused("no heatshrink header")
        self.window, self.lookahead = (data[0] >> 4) + 4, (data[0] & 15) + 3
        if self.window > 14 or self.lookahead >= self.window:
            raise Refused("heatshrink parameters")
        self.data, self.bit = data, 8
        self.output, self.queue = bytearray(1 << self.window), []

    def bits(self, count):
        value = 0
        for _ in range(count):
            if self.bit >> 3 >= len(self.data):
                raise Refused("truncated")
            value = value << 1 | self.data[self.bit >> 3] >> (7 - (self.bit & 7)) & 1
            self.bit += 1
        return value

    def byte(self):
        if not self.queue:
            if self.bits(1):
                self.queue = [self.bits(8)]
                self.output += bytes(self.queue)
            else:
                distance, length = self.bits(self.window) + 1, self.bits(self.lookahead) + 1
                for _ in range(length):
                    self.output.append(self.output[-distance])
                    self.queue.append(self.output[-1])
        return self.queue.pop(0)

    def number(self, field):
        byte = self.byte()
        negative, value, shift = byte >> 6 & 1, byte & 0x3F, 6
        while byte & 0x80:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if shift > 30 or value > 0x7FFFFFFF:
                raise Refused("a number of more than 31 bits")
            shift += 7
        if negative and field not in self.SIGNED:
            raise Refused("a negative size")
        return -value if negative else value

    def unit(self, prediction, kind):
        return bytes(p + self.byte() & 0xFF for p in prediction)

    def extra(self, offset):
        return self.byte()

    def finish(self):
        rest = 8 * len(self.data) - self.bit
        if self.queue or rest >= 8 or self.bits(rest):
            raise Refused("bytes after the end")


class Range:
    """The symbols of section 4.3."""

    FIELDS = {"origin": 0, "count": 1, "start": 1, "shift": 2, "seek": 3, "d": 4, "e": 5}

    def __init__(self, data):
        if len(data) < 4:
            raise Refused("truncated")
        self.range, self.code = 0xFFFFFFFF, int.from_bytes(data[:4], "big")
        self.data, self.place, self.models = data, 4, {}
        self.history, self.last = 0, 0

    def fill(self):
        while self.range < 1 << 24:
            if self.place >= len(self.data):
                raise Refused("truncated")
            self.range <<= 8
            self.code = self.code << 8 | self.data[self.place]
            self.place += 1

    def bit(self, *model):
        self.fill()
        p, n = self.models.get(model, (2048, 0))
        r, bound = 131072 // (2 * n + 3), (self.range >> 12) * p
        bit = int(self.code >= bound)
        if bit:
            self.code -= bound
            self.range -= bound
            p -= p * r >> 16
        else:
            self.range = bound
            p += (4096 - p) * r >> 16
        self.models[model] = (p, min(15, n + 1))
        return bit

    def even_bit(self):
        self.fill()
        self.range >>= 1
        bit = int(self.code >= self.range)
        self.code -= bit * self.range
        return bit

    def byte(self, *tree):
        node = 1
        while node < 256:
            node = 2 * node + self.bit(*tree, node)
        return node & 0xFF

    def number(self, field):
        k = 0
        index = self.FIELDS[field]
        while self.bit("length", index, k):
            k += 1
            if k > 30:
                raise Refused("a number of more than 31 bits")
        value = 1
        for _ in range(k):
            value = 2 * value + self.even_bit()
        if field in Heatshrink.SIGNED and value > 1 and self.bit("sign", index):
            return 1 - value
        return value - 1

    def unit(self, prediction, kind):
        wrong = self.bit("flag", kind, self.history)
        self.history = (2 * self.history + wrong) & 3
        made = bytearray(prediction)
        if wrong:
            for i in range(len(made)):
                tree = i % 2 + (2 if kind == 32 else 0)
                made[i] = made[i] + self.byte("difference", tree) & 0xFF
        self.last = made[-1]
        return bytes(made)

    def extra(self, offset):
        before = 0 if self.last < 0x20 else 1 if self.last < 0x80 else 2
        self.last = self.byte("extra", offset % 2, before)
        return self.last

    def finish(self):
        self.fill()
        if self.code or self.place != len(self.data):
            raise Refused("the coder does not end here")


def word(data, offset):
    return int.from_bytes(data[offset : offset + 4], "little")


def moved(entries, address):
    shift = 0
    for start, value in entries:
        if start <= address:
            shift = value
    return (address + shift) & 0xFFFFFFFF


def branch(value, origin, at, to, entries):
    h, low = value & 0xFFFF, value >> 16
    s, j1, j2 = h >> 10 & 1, low >> 13 & 1, low >> 11 & 1
    i1, i2 = 1 - (j1 ^ s), 1 - (j2 ^ s)
    distance = i1 << 23 | i2 << 22 | (h & 0x3FF) << 12 | (low & 0x7FF) << 1
    distance -= s << 24
    target = (origin + at + 4 + distance) & 0xFFFFFFFF
    distance = moved(entries, target) - (origin + to + 4)
    s, i1, i2 = distance >> 24 & 1, distance >> 23 & 1, distance >> 22 & 1
    h = 0xF000 | s << 10 | distance >> 12 & 0x3FF
    low = low & 0xD000 | ((1 - i1) ^ s) << 13 | ((1 - i2) ^ s) << 11 | distance >> 1 & 0x7FF
    return h | low << 16


def predict(base, at, to, left, origin, entries):
    """The prediction of a unit, and its class."""
    if at % 2 or to % 2 or left == 1:
        return base[at : at + 1], 34
    value = word(base, at)
    if left >= 4 and entries:
        if value & 0xF800 == 0xF000 and value >> 16 & 0x9000 == 0x9000:
            return branch(value, origin, at, to, entries).to_bytes(4, "little"), 32
        target = moved(entries, value)
        if at % 4 == 0 and to % 4 == 0 and target != value:
            return target.to_bytes(4, "little"), 33
    return base[at : at + 2], base[at + 1] // 8


def read_map(content):
    count, entries = content.number("count"), []
    if count > 128:
        raise Refused("too many entries")
    origin = content.number("origin") if count else 0
    start = shift = 0
    for index in range(count):
        distance = content.number("start")
        start += 2 * distance
        shift = (shift + content.number("shift")) & 0xFFFFFFFF
        if (index and not distance) or start > 0xFFFFFFFF:
            raise Refused("the map is not sorted")
        entries.append((start, shift))
    return origin, entries


def plain_number(data, place):
    content = Plain(data, place)
    value = content.number("size")
    return value, content.place


class Plain(Heatshrink):
    """Bytes without compression."""

    def __init__(self, data, place):
        self.data, self.place = data, place

    def byte(self):
        if self.place >= len(self.data):
            raise Refused("truncated")
        self.place += 1
        return self.data[self.place - 1]


def apply_patch(patch, base, offset):
    """The bytes of a part at `offset` in the image."""
    if not patch or patch[0] not in (0x44, 0x48):
        raise Refused("no patch of format 2")
    size, start = plain_number(patch, 1)
    if size == 0:
        raise Refused("an empty part")
    content = (Heatshrink if patch[0] == 0x44 else Range)(patch[start:])
    origin, entries = read_map(content)
    made, position = bytearray(), min(offset, len(base))
    while len(made) < size:
        position += content.number("seek")
        if not 0 <= position <= len(base):
            raise Refused("a position outside the base")
        d = content.number("d")
        if d > size - len(made) or d > len(base) - position:
            raise Refused("too many similar bytes")
        end = position + d
        while position < end:
            prediction, kind = predict(
                base, position, offset + len(made), end - position, origin, entries)
            made += content.unit(prediction, kind)
            position += len(prediction)
        e = content.number("e")
        if e > size - len(made) or d + e == 0:
            raise Refused("a wrong number of new bytes")
        for _ in range(e):
            made.append(content.extra(offset + len(made)))
        position += e
    content.finish()
    return bytes(made)


def apply_stream(stream, base, image_size, page_size):
    """The image of a stream whose parts are all of format 2."""
    image, place = b"", 0
    while len(image) < image_size:
        header = [word(stream, place + 4 * i) for i in range(4)]
        if len(stream) - place < 16 or header[0] != len(image):
            raise Refused("the header of a part")
        left, rest = image_size - len(image), len(stream) - place - 16
        last = header[1] == left
        if not 0 < header[1] <= left or header[2] > rest or last != (header[2] == rest):
            raise Refused("the sizes of a part")
        if not last and header[1] % page_size:
            raise Refused("a part that ends within a page")
        made = apply_patch(stream[place + 16 : place + 16 + header[2]], base, len(image))
        image += made
        if len(made) != header[1] or zlib.crc32(image) != header[3]:
            raise Refused("a part creates other bytes")
        place += 16 + header[2]
    return image


def main():
    old, stream = (open(name, "rb").read() for name in sys.argv[1:3])
    sizes, place = 0, 0
    while place < len(stream):
        sizes, place = sizes + word(stream, place + 4), place + 16 + word(stream, place + 8)
    try:
        image = apply_stream(stream, old, sizes, 1)
    except Refused as reason:
        sys.exit(f"refused: {reason}")
    open(sys.argv[3], "wb").write(image)


if __name__ == "__main__":
    main()
