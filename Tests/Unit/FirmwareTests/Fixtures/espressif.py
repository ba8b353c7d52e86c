"""An application image of ESP-IDF, generated without the code of otaflash: espressif.py FOLDER."""

import functools
import hashlib
import operator
import random
import struct
import sys
from pathlib import Path

CHIP_ESP32_C3 = 5


def description(version, project):
    """esp_app_desc_t: magic, secure version, version, project, time, date, ESP-IDF, SHA-256 of the ELF file."""
    return struct.pack(
        "<II8x32s32s16s16s32s32s80x", 0xABCD5432, 0, version, project, b"", b"", b"v5.5", b"")  # fmt: skip


def image(size):
    code = random.Random(8).randbytes(size)
    segments = [(0x3C000020, description(b"1.3.0", b"sample")), (0x42000020, code)]
    header = struct.pack("<BBBBI", 0xE9, len(segments), 2, 0x2F, 0x42000020)
    header += struct.pack("<B3xHBHH4xB", 0xEE, CHIP_ESP32_C3, 0, 0, 99, 1)
    body = header + b"".join(struct.pack("<II", at, len(data)) + data for at, data in segments)
    checksum = functools.reduce(operator.xor, b"".join(data for _, data in segments), 0xEF)
    body += bytes(15 - len(body) % 16) + bytes([checksum])
    return body + hashlib.sha256(body).digest()


folder = Path(sys.argv[1]) / "Espressif"
folder.mkdir(exist_ok=True)
(folder / "app.bin").write_bytes(image(8192))
