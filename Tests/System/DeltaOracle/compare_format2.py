#!/usr/bin/env python3
"""Compares the encoder and both decoders of format 2 on random pairs.

usage: compare_format2.py CODEC COUNT [SEED]

Each pair consists of bytes that contain branches and pointers, and of an edited copy with moved
targets. delta-codec (CODEC) creates streams with heatshrink and with the range coder; format2.py and the
decoder of the device (C, with sanitizers) apply them, and eight damaged copies of each stream. Ends with
1 if a decoder creates another image.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

import format2
import goals


def code(source, count):
    data = bytearray(source.choices([0, 1, 0x46, 0x47, 0x4B, 0xBD, 0xB5, 0x20, 0x68, 0xFF], k=count))
    for i in range(0, count - 4, 4):
        kind = source.randrange(4)
        if kind == 0:
            data[i + 1] = 0xF0 | data[i + 1] & 7
            data[i + 3] = 0xD0 | source.randrange(16) | source.choice([0, 0x20])
        elif kind == 1:
            value = 0x08000000 + source.randrange(count)
            data[i : i + 4] = value.to_bytes(4, "little")
    return bytes(data)


def edited(source, base):
    """Runs of the base with some bytes and words changed, and new bytes between the runs."""
    image, shift = bytearray(), source.randrange(-40, 40) * 4
    for _ in range(source.randrange(1, 5)):
        start = source.randrange(len(base) + 1)
        piece = bytearray(base[start : source.randrange(start, len(base) + 1)])
        for i in range(-start % 4, len(piece) - 4, 4):
            value = int.from_bytes(piece[i : i + 4], "little")
            if 0x08000000 <= value < 0x08010000:
                piece[i : i + 4] = (value + shift).to_bytes(4, "little")
            elif source.randrange(20) == 0:
                piece[i] = source.randrange(256)
        image += piece + source.randbytes(source.choice([0, 0, 4, source.randrange(40)]))
    return bytes(image) or b"\7"


def damage(source, stream):
    data = bytearray(stream)
    for _ in range(source.randrange(1, 5)):
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    return bytes(data)


def accepted(stream, base, image):
    try:
        made = format2.apply(stream, base, len(image), page_size=4096)
    except ValueError:
        return False
    return made != image


def main():
    codec, count = goals.Codec(sys.argv[1]), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    format2.self_test()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        decoder = goals.compile_decoder(folder)
        for seed in range(first, first + count):
            source = random.Random(seed)
            base = code(source, source.choice([0, 3, 50, 700, 3000]))
            image = edited(source, base)
            (folder / "old").write_bytes(base)
            (folder / "new").write_bytes(image)
            for kind in ["only2a", "only2b"]:
                codec.run("stream", kind, folder / "old", folder / "new", folder / "stream")
                stream = (folder / "stream").read_bytes()
                made = format2.apply(stream, base, len(image), page_size=4096)
                bad = made != image or not goals.check(decoder, folder, folder / "stream", 8)
                bad = bad or any(accepted(damage(source, stream), base, image) for _ in range(8))
                if bad:
                    print(f"seed {seed}, {kind}: a decoder creates another image")
                wrong += bad
    print(f"{count} pairs, {2 * count} streams, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
