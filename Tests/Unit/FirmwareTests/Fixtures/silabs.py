"""A GBL file of Silicon Labs, generated without the code of otaflash: silabs.py FOLDER."""

import random
import struct
import sys
import zlib
from pathlib import Path


# The simulated application reports the version of this descriptor.
def descriptor(version):
    block = struct.pack("<8sB3xIBBH8x", b"OTAimg\xd1\x5c", 1, 0x0000A001, *version)
    return block + struct.pack("<I", zlib.crc32(block))


def tag(number, data):
    return struct.pack("<II", number, len(data)) + data


def file(size):
    application = struct.pack("<III16x", 0x20, 0x01030000, 0)
    program = bytearray(struct.pack("<I", 0x12000) + random.Random(9).randbytes(size))
    program[0x204:0x224] = descriptor((1, 3, 0))
    body = tag(0x03A617EB, struct.pack("<II", 0x03000000, 0))
    body += tag(0xF40A0AF4, application) + tag(0xFE0101FE, bytes(program))
    body += struct.pack("<II", 0xFC0404FC, 4)
    return body + struct.pack("<I", zlib.crc32(body))


folder = Path(sys.argv[1]) / "SiliconLabs"
folder.mkdir(exist_ok=True)
(folder / "app.gbl").write_bytes(file(8192))
