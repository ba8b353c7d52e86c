"""An image for TI's OAD, generated without the code of otaflash: ti_oad.py FOLDER."""

import random
import struct
import sys
import zlib
from pathlib import Path


def image(size, version):
    code = random.Random(11).randbytes(size)
    length = 44 + 12 + size
    covered = struct.pack(
        "<BBHBBBBIII4sIHH", 3, 1, 0xFFFE, 0xFF, 0xFF, 7, 1, 0xFFFFFFFF, length, 0x40, version,
        length - 1, 44, 0xFFFF,
    )
    covered += struct.pack("<BHBII", 1, 0xFFFE, 0xFF, 12 + size, 0) + code
    return b"CC26x2R1" + struct.pack("<I", zlib.crc32(covered)) + covered


folder = Path(sys.argv[1]) / "TIOAD"
folder.mkdir(exist_ok=True)
(folder / "app.bin").write_bytes(image(8192, bytes((0x01, 0x03, 0, 0))))
