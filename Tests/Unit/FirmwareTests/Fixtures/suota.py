"""An image for a DA1469x, generated without the code of otaflash: suota.py FOLDER."""

import random
import struct
import sys
import zlib
from pathlib import Path

CODE_OFFSET = 0x400


def image(size, version):
    code = random.Random(8).randbytes(size)
    header = b"Qq" + struct.pack(
        "<II16sII", size, zlib.crc32(code), version, 1_750_000_000, CODE_OFFSET
    )
    return header.ljust(CODE_OFFSET, b"\xff") + code


folder = Path(sys.argv[1]) / "SUOTA"
folder.mkdir(exist_ok=True)
(folder / "app.img").write_bytes(image(8192, b"1.3.0"))
