"""An image for Telink chips, generated without the code of otaflash: telink.py FOLDER."""

import random
import struct
import sys
import zlib
from pathlib import Path

MAGIC = b"OTAimg\xd1\x5c"
HARDWARE = 0x0000A001


def descriptor(version):
    block = struct.pack("<8sB3xIBBH8x", MAGIC, 1, HARDWARE, *version)
    return block + struct.pack("<I", zlib.crc32(block))


def image(size):
    body = bytearray(random.Random(7).randbytes(size))
    body[8:12] = b"KNLT"
    struct.pack_into("<I", body, 0x18, size + 4)
    body[0x200 : 0x200 + 32] = descriptor((1, 3, 0))
    return bytes(body) + struct.pack("<I", zlib.crc32(body) ^ 0xFFFFFFFF)


folder = Path(sys.argv[1]) / "Telink"
folder.mkdir(exist_ok=True)
(folder / "app.bin").write_bytes(image(8192))
