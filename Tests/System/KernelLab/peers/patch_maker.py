"""Random streams of patches, created only from the format, and the images that they create."""

from __future__ import annotations

import random
import struct
import zlib

from ota_patch import CRLE, HEADER, HEATSHRINK, NONE


def number(value: int) -> bytes:
    magnitude, data = abs(value), bytearray()
    data.append(magnitude & 0x3F | (0x40 if value < 0 else 0))
    magnitude >>= 6
    while magnitude:
        data[-1] |= 0x80
        data.append(magnitude & 0x7F)
        magnitude >>= 7
    return bytes(data)


def length(value: int) -> bytes:
    data = bytearray([value & 0x7F])
    while value := value >> 7:
        data[-1] |= 0x80
        data.append(value & 0x7F)
    return bytes(data)


def triples(draw: random.Random, base: bytes, size: int) -> tuple[bytes, bytes]:
    """Returns a patch before its compression, and the bytes that it creates."""
    patch, image, place = bytearray(number(0)), bytearray(), 0
    while len(image) < size:
        left = size - len(image)
        count = draw.randint(0, min(left, len(base) - place))
        extra = draw.randint(0, left - count) if draw.random() < 0.4 or not base else 0
        sparse = [draw.randrange(256) if draw.random() < 0.1 else 0 for _ in range(count + extra)]
        patch += number(count) + bytes(sparse[:count])
        image += bytes((old + new) & 0xFF for old, new in zip(base[place:], sparse[:count]))
        patch += number(extra) + bytes(sparse[count:])
        image += bytes(sparse[count:])
        target = draw.randint(0, len(base))
        patch += number(target - place - count)
        place = target
    return bytes(patch), bytes(image)


def runs(draw: random.Random, plain: bytes) -> bytes:
    made, at = bytearray(), 0
    while at < len(plain):
        run = 1
        while plain[at : at + run + 1] == plain[at : at + 1] * (run + 1):
            run += 1
        if run > 3:
            made += b"\x01" + length(run) + plain[at : at + 1]
        else:
            run = draw.randint(1, 20)
            run = min(run, len(plain) - at)
            made += b"\x00" + length(run) + plain[at : at + run]
        at += run
    return bytes(made)


def references(draw: random.Random, plain: bytes) -> bytes:
    """Encodes every run of bytes as a reference to the previous byte, which may be before the start; other
    bytes are literals."""
    window, lookahead = 8 + draw.randrange(3), 4 + draw.randrange(4)
    bits, at = "", 0
    while at < len(plain):
        last = plain[at - 1] if at else 0
        run = 0
        while at + run < len(plain) and plain[at + run] == last and run < 1 << lookahead:
            run += 1
        if run > 1:
            bits += "0" + f"{0:0{window}b}" + f"{run - 1:0{lookahead}b}"
        else:
            run = 1
            bits += f"1{plain[at]:08b}"
        at += run
    bits += "0" * (-len(bits) % 8)
    data = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    return bytes([(window - 4) << 4 | lookahead - 3]) + data


def part(draw: random.Random, base: bytes, image: bytes, size: int) -> tuple[bytes, bytes]:
    """Returns a part that starts at the end of `image`, and `image` extended by the bytes of the part."""
    plain, made = triples(draw, base, size)
    codec = draw.choice((NONE, CRLE, HEATSHRINK))
    data = {NONE: lambda: plain, CRLE: lambda: runs(draw, plain)}.get(
        codec, lambda: references(draw, plain)
    )()
    patch = bytes([codec]) + number(size) + data
    whole = image + made
    header = HEADER.pack(len(image), size, len(patch), zlib.crc32(whole))
    return header + patch, whole


def stream(
    draw: random.Random, base: bytes, size: int, part_size: int
) -> tuple[bytes, bytes, list[int]]:
    """Returns a complete stream, the image that it creates, and the starts of its parts."""
    data, image, starts = b"", b"", []
    while len(image) < size:
        starts.append(len(data))
        more, image = part(draw, base, image, min(part_size, size - len(image)))
        data += more
    return data, image, starts


def announcement(base: bytes, data: bytes) -> bytes:
    """Returns the request PATCH."""
    return b"\x0e" + struct.pack(
        "<IIII", len(base), zlib.crc32(base), len(data), zlib.crc32(data)
    )
