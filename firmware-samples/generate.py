#!/usr/bin/env python3
"""Makes the firmware samples of this directory; the same bytes on every run.

    generate.py           write all samples and the C header
    generate.py --check   write nothing; fail when a file differs from what would be written

Only the standard library is used, and the encoders are independent of otaflash's own.
"""

import json
import random
import struct
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent

BOARD = 0x0000A001
OTHER_BOARD = 0x0000B002
MAGIC = b"OTAimg\xd1\x5c"
FLASH_BASE = 0x0800_0000
RAM_BASE = 0x2000_0000
DESCRIPTOR_OFFSET = 0x200


def descriptor(hardware, version):
    block = struct.pack("<8sB3xIBBH8x", MAGIC, 1, hardware, *version)
    return block + struct.pack("<I", zlib.crc32(block))


def vectors(rng, size):
    """A Cortex-M vector table: stack pointer, then odd handler addresses."""
    words = [RAM_BASE + 0x1_0000]
    words += [FLASH_BASE + rng.randrange(0x400, size, 2) + 1 for _ in range(63)]
    return struct.pack(f"<{len(words)}I", *words)


def code(rng, size):
    """Thumb-like halfwords: few opcodes, small operands, calls and literal pools."""
    opcodes = [0x2000, 0x4600, 0x6800, 0x6000, 0xB500, 0xBD00, 0xD000, 0xE000, 0x3000, 0x1C00]
    out = bytearray()
    while len(out) < size:
        for _ in range(rng.randrange(24, 96)):
            out += struct.pack("<H", rng.choice(opcodes) | rng.randrange(256))
            if rng.random() < 0.08:
                out += struct.pack("<HH", 0xF000 | rng.randrange(8), 0xF800 | rng.randrange(0x800))
        out += b"\x00\xbf" * (-len(out) // 2 % 2)
        for _ in range(rng.randrange(1, 6)):
            out += struct.pack("<I", rng.choice([FLASH_BASE, RAM_BASE]) + rng.randrange(0, 0x8000, 4))
    return bytes(out[:size])


def texts(rng, size):
    words = "boot sensor radio sleep flash error timeout battery value range link state".split()
    out = bytearray()
    while len(out) < size:
        out += " ".join(rng.choice(words) for _ in range(rng.randrange(2, 7))).encode() + b": %d\n\0"
    return bytes(out[:size])


def firmware(seed, size, version, hardware=BOARD, described=True):
    """Vectors, descriptor, code, texts, and erased flash at the end."""
    rng = random.Random(seed)
    head = vectors(rng, size).ljust(DESCRIPTOR_OFFSET, b"\xff")
    if described:
        head += descriptor(hardware, version)
    body = code(rng, size * 3 // 4)
    data = texts(rng, size // 8)
    return (head + body + data).ljust(size, b"\xff")[:size]


def updated(image, seed, version):
    """A later build: the same program with patches here and there, and its new version."""
    rng = random.Random(seed)
    new = bytearray(image)
    for _ in range(40):
        at = rng.randrange(0x400, len(new) * 3 // 4, 4)
        patch = code(rng, rng.randrange(16, 1024, 4))
        new[at : at + len(patch)] = patch
    new[DESCRIPTOR_OFFSET : DESCRIPTOR_OFFSET + 32] = descriptor(BOARD, version)
    return bytes(new[: len(image)])


def record(kind, offset, payload):
    octets = struct.pack(">BHB", len(payload), offset, kind) + payload
    return ":" + (octets + bytes([-sum(octets) & 0xFF])).hex().upper() + "\n"


def intel_hex(stretches, start):
    """Lines of 16 octets; a record of type 04 wherever the upper address changes."""
    lines, upper = [], None
    for base, octets in stretches:
        for at in range(0, len(octets), 16):
            address = base + at
            if address >> 16 != upper:
                upper = address >> 16
                lines.append(record(4, 0, struct.pack(">H", upper)))
            lines.append(record(0, address & 0xFFFF, octets[at : at + 16]))
    lines += [record(5, 0, struct.pack(">I", start)), record(1, 0, b"")]
    return lines


def with_wrong_checksum(lines, number):
    """One digit of data changed on the line of that number, counted from 1."""
    line = lines[number - 1]
    digit = "0" if line[20] != "0" else "1"
    return lines[: number - 1] + [line[:20] + digit + line[21:]] + lines[number:]


def c_header():
    """CRC32 is affine: that of a block is a constant, changed by one more constant for each bit set.
    So the preprocessor's own arithmetic gives the CRC32 of a descriptor, without a build step."""

    def crc(bit):
        words = (1 << bit).to_bytes(8, "little")
        block = MAGIC + b"\x01\0\0\0" + words + bytes(8)
        return zlib.crc32(block)

    zero = zlib.crc32(MAGIC + b"\x01\0\0\0" + bytes(16))
    terms = [f"OTAFLASH_BIT(h, {b}, 0x{crc(b) ^ zero:08X})" for b in range(32)]
    terms += [f"OTAFLASH_BIT(v, {b}, 0x{crc(32 + b) ^ zero:08X})" for b in range(32)]
    rows = [" ^ ".join(terms[i : i + 2]) for i in range(0, 64, 2)]
    table = " ^ \\\n   ".join(rows)
    return f"""\
/* The image descriptor of otaflash, layout 1. Made by generate.py; copy it into your firmware.

   One line in one C file, for hardware 0x0000A001 and version 1.3.0:

     OTAFLASH_DESCRIPTOR(0x0000A001, 1, 3, 0);

   Keep it within the first 64 KiB of the image: in the linker script put
   KEEP(*(.otaflash_descriptor)) right behind the vector table. Little-endian targets, C99. */
#ifndef OTAFLASH_DESCRIPTOR_H
#define OTAFLASH_DESCRIPTOR_H

#include <stdint.h>

struct otaflash_descriptor {{
  uint8_t magic[8];
  uint8_t layout;
  uint8_t reserved1[3];
  uint32_t hardware; /* 0: runs on any board */
  uint8_t major;
  uint8_t minor;
  uint16_t patch;
  uint8_t reserved2[8];
  uint32_t crc32; /* of the 28 octets before it */
}};

#define OTAFLASH_VERSION(major, minor, patch) \\
  ((uint32_t)(major) | (uint32_t)(minor) << 8 | (uint32_t)(patch) << 16)

#define OTAFLASH_BIT(word, bit, change) (((uint32_t)(word) >> (bit)&1u) * change##u)

/* CRC32 of the descriptor, worked out by the compiler: each bit changes it by a constant. */
#define OTAFLASH_CRC32(h, v) \\
  (0x{zero:08X}u ^ \\
   {table})

#define OTAFLASH_DESCRIPTOR(hw, major_, minor_, patch_) \\
  __attribute__((used, aligned(4), section(".otaflash_descriptor"))) \\
  const struct otaflash_descriptor otaflash_descriptor = {{ \\
    {{ {", ".join(f"0x{b:02X}" for b in MAGIC)} }}, \\
    1, {{ 0, 0, 0 }}, (hw), (major_), (minor_), (patch_), {{ 0, 0, 0, 0, 0, 0, 0, 0 }}, \\
    OTAFLASH_CRC32(hw, OTAFLASH_VERSION(major_, minor_, patch_)) }}

#endif
"""


def samples():
    app = firmware(seed=120, size=256 * 1024, version=(1, 2, 0))
    sensor = firmware(seed=110, size=48 * 1024, version=(1, 1, 0))
    # 40 KiB of program up to the end of a 64 KiB region and beyond it, a gap, then 4 KiB of settings.
    base = FLASH_BASE + 0xA000
    stretches = [(base, sensor[: 40 * 1024]), (base + 44 * 1024, sensor[44 * 1024 :])]
    small = firmware(seed=140, size=8 * 1024, version=(1, 4, 0))
    damaged = with_wrong_checksum(intel_hex([(FLASH_BASE, small)], FLASH_BASE + 0x401), 100)
    sidecar = {"version": "1.5.0", "hardware": f"0x{BOARD:08X}"}
    plain = firmware(seed=150, size=64 * 1024, version=None, described=False)
    return {
        "blink-1.0.0.bin": firmware(seed=100, size=3000, version=(1, 0, 0)),
        "app-1.2.0.bin": app,
        "app-1.3.0.bin": updated(app, seed=130, version=(1, 3, 0)),
        "sensor-1.1.0.hex": "".join(intel_hex(stretches, base + 0x401)).encode(),
        "other-board-2.0.0.bin": firmware(200, 32 * 1024, (2, 0, 0), hardware=OTHER_BOARD),
        "damaged-1.4.0.hex": "".join(damaged).encode(),
        "plain-1.5.0.bin": plain,
        "plain-1.5.0.bin.json": (json.dumps(sidecar) + "\n").encode(),
        "otaflash_descriptor.h": c_header().encode(),
    }


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = []
    for name, content in samples().items():
        path = HERE / name
        if not arguments:
            path.write_bytes(content)
        elif not path.is_file() or path.read_bytes() != content:
            stale.append(name)
    if stale:
        sys.exit("differs from what generate.py makes: " + ", ".join(stale))


if __name__ == "__main__":
    main(sys.argv[1:])
