"""A Universal Hex for the micro:bit, generated without the code of otaflash: microbit.py FOLDER.

The runtimes are those of simulated devices, so that only the script is sent."""

import hashlib
import random
import struct
import sys
from pathlib import Path

MARK = bytes.fromhex("708E3B92C615A841C49866C975EE5197")
# Start of the application, page size, top of the memory, block type, record type.
BOARDS = [
    (0x18000, 0x400, 0x20004000, 0x9900, 0x00),
    (0x1C000, 0x1000, 0x20020000, 0x9903, 0x0D),
]


def runtime(start, page, stack):
    body = bytearray((31 * i + ((i >> 7) + 7)) & 0xFF for i in range(8 * page))
    struct.pack_into("<II", body, 0, stack, start + 0x201)
    body[0x100 : 0x100 + 32] = b"sample runtime, same".ljust(32, b"\0")
    return bytes(body)


def application(start, page, stack, script):
    code = runtime(start, page, stack)
    header = MARK + hashlib.sha256(code).digest()[:8] + hashlib.sha256(script).digest()[:8]
    return code + (header + script).ljust((len(header + script) + 64) // 64 * 64, b"\x5a")


def record(kind, offset, payload=b""):
    data = struct.pack(">BHB", len(payload), offset, kind) + payload
    return ":" + (data + bytes([-sum(data) & 0xFF])).hex().upper()


def section(start, block, kind, data):
    yield record(0x04, 0, struct.pack(">H", start >> 16))
    yield record(0x0A, 0, struct.pack(">HH", block, 0xC0DE))
    for offset in range(0, len(data), 32):
        address = start + offset
        if address & 0xFFFF < 32:
            yield record(0x04, 0, struct.pack(">H", address >> 16))
        yield record(kind, address & 0xFFFF, data[offset : offset + 32])
    yield record(0x0C, 0, b"\xff" * 32)
    yield record(0x0B, 0)


script = random.Random(7).randbytes(3000)
lines = []
for start, page, stack, block, kind in BOARDS:
    lines += section(start, block, kind, application(start, page, stack, script))
folder = Path(sys.argv[1]) / "Microbit"
folder.mkdir(exist_ok=True)
(folder / "program.hex").write_text("\n".join(lines + [record(0x01, 0)]) + "\n")
