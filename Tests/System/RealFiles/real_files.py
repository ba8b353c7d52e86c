"""Tests firmware files of the original tools, which the program reads and flashes: real_files.py PROGRAM.

Each file is compared with the bytes that another tool reads in it (objcopy, intelhex, srec_cat). The
program must find the same bytes, and an update of a simulated device must end with them running. Files
that are not firmware must be named, and every command in an error message must work as printed.
"""
import gzip
import json
import os
import pathlib
import random
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

from intelhex import IntelHex

PROGRAM = os.path.abspath(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent
WORK = pathlib.Path(tempfile.mkdtemp(prefix="real-files-"))
SAID = ["--image-version", "9.9.9", "--hardware", "0x0000A001"]
ENVIRONMENT = {**os.environ, "XDG_STATE_HOME": str(WORK / "state"), "XDG_RUNTIME_DIR": str(WORK)}
counts = {"right": 0, "wrong": 0, "skipped": 0}


def report(name, problem=None):
    counts["wrong" if problem else "right"] += 1
    print(f"{'WRONG' if problem else 'right'}  {name}" + (f": {problem}" if problem else ""))


def skip(name, tool):
    counts["skipped"] += 1
    print(f"==== SKIPPED {name}: {tool} is not installed ====")


def has(name, *tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    for tool in missing[:1]:
        skip(name, tool)
    return not missing


def tool(*words):
    subprocess.run([str(word) for word in words], check=True, cwd=WORK,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def otaflash(*words, **options):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=WORK,
                          env=ENVIRONMENT, timeout=300, **options)


def image_of(path, *words):
    """Returns the program's description of a file (`None` if the program refuses it), and the ended program."""
    run = otaflash("--json", "image", "info", path, *words)
    events = [json.loads(line) for line in run.stdout.splitlines()]
    images = [event for event in events if event["type"] == "image"]
    return (images[0] if images else None), run


def taken(name, path, expected, *words, device="sim:fast?slot=1M", left_out=(), saying=SAID):
    """Checks that the program reads these bytes in the file, and that they run after an update."""
    image, run = image_of(path, *words)
    if image is None:
        return report(name, run.stdout.splitlines()[-2])
    found = (image["size"], image["crc32"])
    wanted = (len(expected), f"{zlib.crc32(expected):08x}")
    if found != wanted:
        return report(name, f"{found} and not {wanted}")
    names = tuple(part.get("name") for part in image.get("left_out", []))
    if names != tuple(left_out):
        return report(name, f"left out {names} and not {left_out}")
    verified = otaflash("image", "verify", path, "--crc32", wanted[1], *saying, *words)
    if verified.returncode:
        return report(name, verified.stderr)
    flashed = otaflash("flash", path, "-d", device, "--force", *saying, *words)
    if flashed.returncode or "verified" not in flashed.stdout:
        return report(name, flashed.stderr + flashed.stdout)
    return report(f"{name}  {wanted[0]} B, {wanted[1]}, flashed")


def refused(name, path, status, saying, *words, then=None):
    """Checks that the error has this message and exit status and that, with `then`, the printed command has
    that status."""
    run = otaflash("flash", path, "-d", "sim:fast?slot=1M", *words)
    if run.returncode != status or saying not in run.stderr:
        return report(name, f"{run.returncode} {run.stderr}")
    if "--allow-unknown" in run.stderr.split("help:")[-1]:
        return report(name, "it recommends to disable the check")
    if then is not None:
        help_line = run.stderr.split("help: ")[-1].strip()
        again = subprocess.run(["bash", "-c", help_line], capture_output=True, text=True, cwd=WORK,
                               env=ENVIRONMENT, timeout=60)
        if again.returncode != then:
            return report(name, f"'{help_line}' ended with {again.returncode}: {again.stderr}")
    return report(f"{name}  refused with {status}")


def write(name, content):
    path = WORK / name
    path.write_bytes(content)
    return path


# Files that linkers create.

def linked():
    if not has("ELF by GNU ld", "arm-none-eabi-gcc", "arm-none-eabi-objcopy"):
        return
    common = ["-mcpu=cortex-m4", "-mthumb", "-Os", "-ffreestanding", "-DWITH_UICR"]
    objcopy = "arm-none-eabi-objcopy"
    tool("arm-none-eabi-gcc", *common, "-c", HERE / "program.c", "-o", "program.o")
    linkers = {"gnu": ["arm-none-eabi-ld"], "gnu-nmagic": ["arm-none-eabi-ld", "--nmagic"]}
    for name in ("lld", "lld-nmagic"):
        if shutil.which("ld.lld"):
            linkers[name] = ["ld.lld", *(["--nmagic"] if name == "lld-nmagic" else [])]
        else:
            skip(name, "ld.lld")
    for name, words in linkers.items():
        tool(*words, "-T", HERE / "program.ld", "program.o", "-o", f"{name}.elf")
        tool(objcopy, "-O", "binary", "-R", ".uicr", f"{name}.elf", f"{name}.bin")
        expected = (WORK / f"{name}.bin").read_bytes()
        taken(f"ELF with UICR, {name}", f"{name}.elf", expected, left_out=["UICR"])
        for form in ("ihex", "srec"):
            # The reader fills gaps. lld gives an empty .data section an address in RAM, and objcopy
            # would fill all addresses before it.
            tool(objcopy, "-O", form, "-R", ".uicr", f"{name}.elf", f"{name}-plain.{form}")
            taken(f"{form} of objcopy, {name}", f"{name}-plain.{form}",
                  contents(f"{name}-plain.{form}"))
        tool(objcopy, "-O", "ihex", f"{name}.elf", f"{name}.hex")
        taken(f"HEX with UICR of objcopy, {name}", f"{name}.hex",
              contents(f"{name}.hex", end=0x10000000), left_out=["UICR"])


def contents(name, start=None, end=None):
    """Returns the bytes that intelhex reads; objcopy converts S-records for it. Gaps are 0xFF."""
    path = WORK / name
    if path.suffix == ".srec":
        tool("arm-none-eabi-objcopy", "-I", "srec", "-O", "ihex", name, f"{name}.hex")
        path = WORK / f"{name}.hex"
    memory = IntelHex(str(path))
    addresses = [a for a in memory.addresses()
                 if (start is None or a >= start) and (end is None or a < end)]
    return bytes(memory.tobinarray(start=addresses[0], end=addresses[-1]))


# Files that srec_cat creates.

def srecords(body):
    if not has("S-records by srec_cat", "srec_cat"):
        return
    write("body.bin", body)
    for length in (2, 3, 4):
        tool("srec_cat", "body.bin", "-binary", "-o", f"a{length}.srec", f"-address-length={length}")
        last = (WORK / f"a{length}.srec").read_text().splitlines()[-1]
        assert last[:2] in ("S5", "S6"), last
        taken(f"srec_cat, {length} bytes of address, ends with {last[:2]}", f"a{length}.srec", body)
    tool("srec_cat", "body.bin", "-binary", "-o", "start.srec", "-execution-start-address=16")
    taken("srec_cat with a start address", "start.srec", body)
    tool("srec_cat", "body.bin", "-binary", "-offset", "0x8000000", "-o", "srec_cat.hex", "-Intel")
    taken("HEX by srec_cat", "srec_cat.hex", body)
    text = (WORK / "a4.srec").read_bytes()
    write("crlf.srec", b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    taken("the same with CRLF and a byte order mark", "crlf.srec", body)
    lines = text.splitlines(keepends=True)
    write("cut.srec", b"".join(lines[:-1]))
    refused("the same without its count", "cut.srec", 65, "truncated", *SAID, then=0)


# Data at addresses far from the image.

def hexadecimal(name, places):
    memory = IntelHex()
    for address, data in places:
        memory.puts(address, bytes(data))
    memory.write_hex_file(str(WORK / name))
    return name


def far(body):
    magic = struct.pack("<I", 0x51B1E5DB)
    known = [
        ("nRF52 with UICR", 0xF8000, [(0x10001014, b"\0\x80\x0f\0")], ["UICR"]),
        ("nRF5340 with UICR", 0, [(0x00FF8000, b"\x50\xfa\x50\xfa")], ["UICR"]),
        ("nRF52840 with QSPI", 0x1000, [(0x12000000, bytes(range(64)))], ["external flash (QSPI)"]),
        ("STM32 with option bytes", 0x08000000, [(0x1FFFC000, b"\xff\xaa\0\x55")],
         ["option bytes, OTP and system memory"]),
        ("STM32 with QSPI", 0x08000000, [(0x90000000, b"QSPI")], ["external flash (QSPI)"]),
    ]
    for name, base, others, left in known:
        path = hexadecimal(name.replace(" ", "-") + ".hex", [(base, body), *others])
        taken(f"HEX by intelhex, {name}", path, body, left_out=left)
    softdevice = bytearray(body)
    softdevice[0x2004:0x2008] = magic
    path = hexadecimal("softdevice.hex", [(0, b"\x11" * 0x7C0), (0x1000, softdevice)])
    taken("SoftDevice with MBR", path, bytes(softdevice), left_out=["master boot record"])
    path = hexadecimal("s110.hex", [(0, b"\x11" * 0x7C0), (0x1000, body), (0x10001000, b"\0\x40\1\0")])
    taken("SoftDevice of nRF51 with MBR and UICR", path, body, left_out=["master boot record", "UICR"])
    path = hexadecimal("unknown.hex", [(0x1000, body), (0x60000000, bytes(range(200, 209)))])
    refused("two places, neither known", path, 65, "far apart", *SAID, then=0)
    end = 0x1000 + len(body)
    taken("the first of them", path, body, "--region", f"0x1000..{end:#x}", left_out=[None])
    taken("the other", path, bytes(range(200, 209)), "--region", "0x60000000..0x60000009", left_out=[None])


# UF2 files that this test creates, according to the sources of pico-sdk (boot/uf2.h) and picotool
# (elf2uf2).

def uf2_block(number, count, address, family, payload, flags=0x2000, extension=b""):
    block = struct.pack("<8I", 0x0A324655, 0x9E5D5157, flags, address, len(payload), number, count,
                        family) + payload + extension
    return block.ljust(508, b"\0") + struct.pack("<I", 0x0AB16F30)


def uf2(body):
    pages = [body[at:at + 256] for at in range(0, len(body), 256)]
    for name, family in (("rp2040", 0xE48BFF56), ("rp2350", 0xE48BFF59)):
        blocks = [uf2_block(number, len(pages), 0x10000000 + 256 * number, family, page)
                  for number, page in enumerate(pages)]
        if name == "rp2350":
            blocks.insert(0, uf2_block(0, 2, 0x10FFFF00, 0xE48BFF57, b"\xef" * 256, 0xA000,
                                       struct.pack("<I", 0x9957E304)))
        write(f"{name}.uf2", b"".join(blocks))
        taken(f"UF2 for {name}", f"{name}.uf2", body)


# Files that MCUboot's tool creates.

def imgtool(*words):
    subprocess.run([sys.executable, "-c", "from imgtool.main import imgtool; imgtool()",
                    *map(str, words)], check=True, cwd=WORK, stdout=subprocess.DEVNULL)


def mcuboot(body):
    write("app.bin", body)
    imgtool("keygen", "--type", "ed25519", "--key", "sign.pem")
    imgtool("keygen", "--type", "x25519", "--key", "encrypt.pem")

    def sign(name, *words, source="app.bin", base=("--header-size", 0x200, "--pad-header")):
        imgtool("sign", "--key", "sign.pem", "--slot-size", 0x40000, "--version", "2.1.3+7", *base,
                *words, source, name)
        return name

    signed = sign("signed.bin")
    taken("MCUboot image", signed, (WORK / signed).read_bytes(), device="sim:smp", saying=[])
    for kind in ("lzma2", "lzma2armthumb"):
        # imgtool does not compress an image that would not get smaller.
        write("soft.bin", body[:8] + bytes(range(200)) * 100)
        name = sign(f"{kind}.bin", "--compression", kind, source="soft.bin")
        image, _ = image_of(name)
        words = image["mcuboot"]["flag_words"]
        entries = [entry["name"] for entry in image["mcuboot"]["protected_entries"]]
        verified = otaflash("image", "verify", name).returncode
        wrong = verified or not any("LZMA2" in word for word in words) \
            or not any("decompressed hash" in entry for entry in entries)
        report(f"compressed with {kind}", f"{verified} {words} {entries}" if wrong else None)
    installer(sign, body)
    path = sign("not-bootable.bin", "--non-bootable")
    smp_refuses("not bootable", path, "marks it as not bootable")
    path = sign("clear.bin", "--encrypt", "encrypt.pem", "--clear")
    report("--clear is complete", otaflash("image", "verify", path).stderr)
    smp_refuses("--clear", path, "marked as encrypted")
    path = sign("encrypted.bin", "--encrypt", "encrypt.pem")
    run = otaflash("image", "verify", path)
    report("encrypted: its structure", None if run.returncode == 0 and "structure" in run.stdout
         else run.stderr + run.stdout)
    # A complete flash, with the bootloader and the image in its slot.
    whole = hexadecimal("merged.hex", [(0, body[:0x4000]), (0xC000, (WORK / signed).read_bytes())])
    run = otaflash("flash", whole, "-d", "sim:smp")
    line = run.stderr.split("help: ")[-1].strip()
    end = 0xC000 + (WORK / signed).stat().st_size
    good = run.returncode == 5 and f"--region 0x0000C000..0x{end:08X}" in line \
        and "zephyr.signed.bin" in run.stderr
    report("merged HEX to SMP: the address of the image", None if good else run.stderr)
    again = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=WORK,
                           env=ENVIRONMENT, timeout=300)
    report("  and its help line flashes it", again.stderr if again.returncode else None)


def installer(sign, body):
    """An image as built by Nordic's bare-metal SDK: the program, the table and two signed images, which are
    signed together."""
    def entry(number, address, offset, image):
        return struct.pack("<IIIIIBBBB", address, 0x10000, offset, len(image), zlib.crc32(image),
                           number, 255, 255, 255)

    write("softdevice.bin", body[:9000])
    write("loader.bin", body[-7000:])
    soft_device = (WORK / sign("softdevice.signed.bin", source="softdevice.bin")).read_bytes()
    loader = (WORK / sign("loader.signed.bin", source="loader.bin")).read_bytes()
    table = b"\x92\x11\xf2\xe9" + entry(1, 0x148000, 0, soft_device)
    table += entry(2, 0x163000, len(soft_device), loader)
    table += struct.pack("<I", zlib.crc32(table))
    write("installer.raw", body[:4000] + table + soft_device + loader)
    path = sign("installer.bin", "--custom-tlv", "0xa0", "0x01", source="installer.raw")
    image, _ = image_of(path)
    hashes = [part.get("hash") for part in image.get("installs", [])]
    wanted = [image_of(name)[0]["mcuboot"]["hash"]
              for name in ("softdevice.signed.bin", "loader.signed.bin")]
    report("installer: its images", None if hashes == wanted else f"{hashes} {wanted}")
    smp_refuses("an installer for a device without a loader", path, "a firmware loader")
    device = ["-d", "sim:smp?mode=firmware-loader"]
    run = otaflash("flash", path, *device)
    good = run.returncode == 0 and "installed, verified" in run.stdout \
        and "no application: flash it now" in run.stdout
    report("installer: its loader runs", None if good else run.stderr + run.stdout)
    files = ", ".join(f'{{"file": "{name}"}}' for name in ("signed.bin", path))
    with zipfile.ZipFile(WORK / "both.zip", "w") as package:
        package.writestr("manifest.json", f'{{"format-version": 1, "files": [{files}]}}')
        for name in ("signed.bin", path):
            package.write(WORK / name, name)
    run = otaflash("flash", "both.zip", *device)
    good = run.returncode == 0 and "running 2.1.3+7, verified" in run.stdout
    report("installer and application in one package", None if good else run.stderr + run.stdout)


def smp_refuses(name, path, saying):
    run = otaflash("flash", path, "-d", "sim:smp")
    report(f"{name}: refused before it is sent",
         None if run.returncode == 5 and saying in run.stderr else run.stderr + run.stdout)


# Files that are not firmware.

def foreign(body):
    pointer = (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32
               + b"\nsize 98032\n")
    esp32 = struct.pack("<BBBBI", 0xE9, 1, 2, 0x20, 0x40080000) + b"\xee\0\0\0" + b"\0" * 12
    esp32 += struct.pack("<II", 0x3F400020, 64) + bytes(range(64)) + b"\0" * 24
    for name, content, words in [
            ("lfs.bin", pointer, "a git-lfs pointer"),
            ("page.bin", b"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "an HTML page"),
            ("notes.bin", b"not firmware at all\n" * 20, "is text"),
            ("app.bin.gz", gzip.compress(body), "a gzip archive"),
            ("esp32.bin", esp32, "ESP32 image"),
            ("erased.bin", b"\xff" * 65536, "nothing but 0xFF"),
            ("zeros.bin", bytes(65536), "nothing but zeros")]:
        write(name, content)
        refused(name, name, 65, words, *SAID, then=0)
    text = (WORK / "srec_cat.hex").read_text() if (WORK / "srec_cat.hex").exists() else ":00000001FF\n"
    write("wide.hex", text.encode("utf-16"))
    refused("HEX in UTF-16", "wide.hex", 65, "UTF-16", *SAID, then=0)
    write("marked.hex", b"\xef\xbb\xbf" + text.encode())
    if len(text) > 100:
        taken("HEX with a byte order mark", "marked.hex", body)
    write("universal.hex", b":020000040000FA\n:0400000A9900C0DEBB\n:00000001FF\n")
    refused("Universal Hex", "universal.hex", 65, "Universal Hex", *SAID, then=0)
    write("cut.zip", (HERE / "../../Unit/FirmwareTests/Fixtures/Nordic/app-signed.zip").read_bytes()[:-40])
    run = otaflash("flash", "cut.zip", "-d", "sim:fast")
    report("a truncated ZIP archive",
         None if run.returncode == 65 and "truncated" in run.stderr else run.stderr)


def main():
    # The file is neither a program nor text: after a stack pointer and a reset vector, it has only
    # random bytes.
    body = struct.pack("<II", 0x20010000, 0x00000401) + random.Random(1).randbytes(20_000)
    linked()
    srecords(body)
    far(body)
    uf2(body)
    mcuboot(body)
    foreign(body)
    print(f"{counts['right']} right, {counts['wrong']} wrong, {counts['skipped']} skipped")
    shutil.rmtree(WORK)
    sys.exit(1 if counts["wrong"] else 0)


main()
