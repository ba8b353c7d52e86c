"""Unsigned images compressed by imgtool, and the same image uncompressed. The images need no key, so they
are the same every time."""
import pathlib
import random
import struct
import subprocess
import sys

WORK, OUT = map(pathlib.Path, sys.argv[1:3])
IMGTOOL = [sys.executable, "-c", "from imgtool.main import imgtool; imgtool()"]


def body() -> bytes:
    """Returns code that repeats, with calls of one function at a different distance each time."""
    draw = random.Random(7)
    pieces = [draw.randbytes(24) for _ in range(5)]
    code = b""
    while len(code) < 6000:
        code += pieces[draw.randrange(5)]
        distance = (0x400 - len(code) - 4) // 2
        code += struct.pack("<HH", 0xF000 | distance >> 11 & 0x7FF, 0xF800 | distance & 0x7FF)
    return code


(WORK / "code.bin").write_bytes(body())
for name, words in [("plain", []), ("lzma2", ["--compression", "lzma2"]),
                    ("lzma2armthumb", ["--compression", "lzma2armthumb"])]:
    subprocess.run([*IMGTOOL, "sign", "--header-size", "32", "--pad-header", "--slot-size", "0x4000",
                    "--version", "2.1.0+7", *words, str(WORK / "code.bin"), str(OUT / f"{name}.bin")],
                   check=True, stdout=subprocess.DEVNULL)
