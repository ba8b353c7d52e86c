"""Compares otaflash's reader for ZIP archives with Python's zipfile and Info-ZIP: compare.py READER [COUNT [SEED]].

COUNT archives (1000) are created from the seed by zipfile and, if installed, by zip. Half of them are
unchanged, and all readers must find the same files in them. The others are damaged: bytes are changed,
removed or inserted, header fields are set to forbidden values, or names are changed in one of two places.
If otaflash's reader accepts a damaged archive, the others must also accept it, with the same names and
bytes.
"""
import collections
import io
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

READER = sys.argv[1]
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
INFO_ZIP = shutil.which("unzip")
ZIP = shutil.which("zip")
LIMIT = 1 << 22


class Unseekable(io.RawIOBase):
    """Makes zipfile write data descriptors."""

    def __init__(self):
        super().__init__()
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, part):
        self.data += part
        return len(part)


def content(draw):
    kind = draw.randrange(4)
    size = draw.choice([0, 1, 100, 5000, 70_000])
    if kind == 0:
        return draw.randbytes(size)
    if kind == 1:
        return bytes([draw.randrange(256)]) * size
    return bytes(draw.choice(b"firmware \n{}\":") for _ in range(size))


def names(draw, count):
    plain = [f"{draw.choice(['', 'folder/', 'a/b/'])}{draw.choice(['app', 'net', 'größe'])}{n}.bin"
             for n in range(count)]
    return plain + ([f"folder{draw.randrange(9)}/"] if draw.random() < 0.2 else [])


def by_python(draw):
    stream = Unseekable() if draw.random() < 0.3 else io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names(draw, draw.choice([1, 2, 3, 8, 60])):
            info = zipfile.ZipInfo(name, (draw.randrange(1980, 2100), 11, 22, 7, 30, 2))
            info.compress_type = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
            info.external_attr = 0o40755 << 16 if name.endswith("/") else 0o644 << 16
            if draw.random() < 0.2:
                info.comment = b"PK\x05\x06 of the linker"[:draw.randrange(19)]
            if draw.random() < 0.2:
                info.extra = struct.pack("<HH", 0xCAFE, 4) + draw.randbytes(4)
            archive.writestr(info, b"" if name.endswith("/") else content(draw),
                             compresslevel=draw.randrange(10))
        if draw.random() < 0.2:
            archive.comment = draw.randbytes(draw.randrange(200)).replace(b"PK", b"kp")
    return bytes(stream.data if isinstance(stream, Unseekable) else stream.getvalue())


def by_info_zip(draw, folder):
    source = pathlib.Path(tempfile.mkdtemp(dir=folder))
    for number in range(draw.choice([1, 2, 5])):
        (source / f"file{number}.bin").write_bytes(content(draw))
    words = [ZIP, "-q", "-r", *draw.choice([[], ["-0"], ["-9"], ["-X"], ["-D"]]), "out.zip", "."]
    subprocess.run(words, cwd=source, check=True)
    data = (source / "out.zip").read_bytes()
    shutil.rmtree(source)
    return data


def damaged(draw, whole):
    data = bytearray(whole)
    end = data.rfind(b"PK\x05\x06")
    directory = struct.unpack_from("<I", data, end + 16)[0]
    kind = draw.choice(["byte", "byte", "header", "cut", "insert", "name", "field", "end", "double",
                        "trailing", "shift"])
    if kind == "byte":
        for _ in range(draw.choice([1, 1, 3])):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif kind == "header":
        data[draw.randrange(directory, len(data))] = draw.randrange(256)
    elif kind == "cut":
        del data[draw.randrange(len(data)):]
    elif kind == "insert":
        at = draw.randrange(len(data))
        data[at:at] = draw.randbytes(draw.choice([1, 4, 30]))
    elif kind == "name":
        length = struct.unpack_from("<H", data, directory + 28)[0]
        new = draw.choice([b"../x", b"/etc", b"a\\b", b"C:\\a", b"\0", b"b"])[:length]
        data[directory + 46:directory + 46 + len(new)] = new
        if draw.random() < 0.5:
            data[30:30 + len(new)] = new
    elif kind == "field":
        at, form = draw.choice([(6, "H"), (8, "H"), (10, "H"), (16, "I"), (20, "I"), (24, "I"), (28, "H"),
                                (30, "H"), (32, "H"), (34, "H"), (42, "I")])
        value = draw.choice([0, 1, 8, 9, 12, 0x0800, 0xFFFF if form == "H" else 0xFFFFFFFF,
                             draw.randrange(1 << 16)])
        struct.pack_into("<" + form, data, directory + at, value)
        twin = {6: 4, 8: 6, 10: 8, 16: 14, 20: 18, 24: 22, 28: 26, 30: 28}.get(at)
        if twin and draw.random() < 0.5:
            struct.pack_into("<" + form, data, twin, value)
    elif kind == "end":
        at, form = draw.choice([(4, "H"), (6, "H"), (8, "H"), (10, "H"), (12, "I"), (16, "I"), (20, "H")])
        value = draw.choice([0, 1, 2, 0xFFFF if form == "H" else 0xFFFFFFFF, draw.randrange(1 << 16)])
        struct.pack_into("<" + form, data, end + at, value)
    elif kind == "double":
        # A second entry that refers to the bytes of the first file.
        length = sum(struct.unpack_from("<HHH", data, directory + 28)) + 46
        entry = bytes(data[directory:directory + length])
        if draw.random() < 0.5 and length > 47:
            entry = entry[:46] + bytes([entry[46] ^ 1]) + entry[47:]
        data[end:end] = entry
        end += length
        count = struct.unpack_from("<H", data, end + 8)[0] + 1
        size = struct.unpack_from("<I", data, end + 12)[0] + length
        struct.pack_into("<HHI", data, end + 8, count, count, size)
    elif kind == "trailing":
        data += draw.randbytes(draw.choice([1, 22, 100]))
    elif kind == "shift":
        data[0:0] = draw.choice([b"#!/bin/sh\n", bytes(data[:40]), b"PK\x03\x04"])
    return kind, bytes(data)


def by_zipfile(path):
    """Returns names, sizes and CRC32s as Python reads them; `None` if Python refuses the archive, or if a file is
    larger than the limit."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = []
            for info in archive.infolist():
                if info.file_size > LIMIT:
                    return None
                data = archive.read(info)
                if not info.filename.endswith("/"):
                    name = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437")
                    found.append((name.hex(), len(data), zlib.crc32(data)))
            return found
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError,
            UnicodeError, ValueError, struct.error):
        return None


def by_unzip(path):
    """Returns whether Info-ZIP's test finds no error and has no warning (1); `True` without Info-ZIP."""
    return INFO_ZIP is None or subprocess.run(
        [INFO_ZIP, "-tqq", "-P", "none", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="zip-oracle-"))
    cases = []
    for number in range(COUNT):
        draw = random.Random(f"{SEED}-{number}")
        whole = by_info_zip(draw, folder) if ZIP and draw.random() < 0.2 else by_python(draw)
        kind = "whole"
        if number % 2:
            kind, whole = damaged(draw, whole)
        path = folder / f"{number}.zip"
        path.write_bytes(whole)
        cases.append((number, kind, path))
    said = subprocess.run([READER], input="".join(f"{path}\n" for _, _, path in cases), check=True,
                          capture_output=True, text=True).stdout.split("\n")[:-1]
    assert len(said) == len(cases)
    seen = collections.Counter()
    wrong = 0
    for (number, kind, path), answer in zip(cases, said):
        python, unzip = by_zipfile(path), by_unzip(path)
        ours = None
        if answer.startswith("ok"):
            ours = [(name, int(size), int(crc))
                    for name, size, crc in (part.split(":") for part in answer.split()[1:])]
        if ours is not None:
            good = ours == python and unzip
        else:
            good = kind != "whole"
        seen[("right" if good else "WRONG", "whole" if kind == "whole" else "damaged",
              "accepted" if ours is not None else "refused",
              "also by the others" if (ours is None) == (python is None or not unzip)
              else "only by otaflash")] += 1
        if not good:
            wrong += 1
            print(f"WRONG {number} ({kind}): {answer[:200]}; zipfile {python and python[:3]}, unzip {unzip}")
    for row, count in sorted(seen.items()):
        print(f"{count:5}  " + ", ".join(row))
    print(f"{COUNT} archives from seed {SEED}, {wrong} wrong"
          + ("" if INFO_ZIP else "; WITHOUT Info-ZIP, which is not installed"))
    shutil.rmtree(folder)
    sys.exit(1 if wrong else 0)


main()
