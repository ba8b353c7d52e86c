"""Patches from PyPI's detools, sent over the OTA service (docs/ota-service.md, 13): both devices accept them.

    protocol.py OTAFLASH CODEC

OTAFLASH is the program, whose `simulate` is the device in C. CODEC is this project's encoder (delta-codec), whose
patches the device in Python must accept. Ends with 1 if a device refuses a patch.
"""
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "KernelLab" / "peers"))

from compare_receivers import Model, Simulated, status_fields  # noqa: E402
from oracle import Ours, their_patch  # noqa: E402
from ota_patch import HEADER, applied  # noqa: E402
from ota_protocol import Board, Running, State  # noqa: E402
from patch_maker import announcement  # noqa: E402

CODECS = ["none", "crle", "heatshrink,8,7", "heatshrink,10,8"]
PARTS = [4096, 16384, 1 << 30]
IMAGE = 30000  # small, because the link is slow


def edited(old):
    """Returns a new version, with bytes inserted, changed and moved, and with a shorter run of zeros."""
    draw = random.Random(7)
    new = bytearray(old)
    for _ in range(20):
        at = draw.randrange(len(new))
        new[at : at + draw.randrange(3)] = draw.randbytes(draw.randrange(9))
    middle = len(new) // 3
    return bytes(new[middle:] + new[:middle] + draw.randbytes(777))


def stream(old, new, codec, part):
    content = b""
    for start in range(0, len(new), part):
        segment = new[start : start + part]
        patch = their_patch(old, segment, codec)
        content += HEADER.pack(start, len(segment), len(patch), zlib.crc32(new[: start + part])) + patch
    return content


def send(device, content, chunk):
    """Sends within the window that the device grants, up to the end of the data or of the session."""
    while True:
        status = device.status()
        state, _, window, start, _, _ = struct.unpack("<BBHIII", status)
        if state != State.RECEIVING or start == len(content):
            return
        piece = content[start : start + min(chunk, window)]
        device.data(struct.pack("<I", start) + piece, False)


def answer(device, request):
    return next(said[1] for said in device.control(request) if said[0] == "answered")


def flash(device, old, content, new, hardware, chunk):
    """Returns `None`, or the step that failed."""
    steps = {
        "PATCH": announcement(old, content),
        "BEGIN": b"\x06"
        + struct.pack("<BIIBBHI", 16, len(new), zlib.crc32(new), 9, 9, 9, hardware),
    }
    for name, request in steps.items():
        if answer(device, request)[1]:
            return f"{name} is refused"
    send(device, content, chunk)
    verified = answer(device, b"\x08")
    if verified != b"\x88\0" + struct.pack("<I", zlib.crc32(new)):
        return f"VERIFY: {verified.hex()}, status {status_fields(device.status())}"
    return None


def main():
    otaflash, codec_program = sys.argv[1:3]
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "device")
        process = subprocess.Popen(
            [otaflash, "simulate", "--profile", "fast", "--listen", path, "--flash-file", path + ".flash"],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "XDG_STATE_HOME": folder, "XDG_RUNTIME_DIR": folder},
        )
        try:
            simulated = Simulated(path)
            info, running = answer(simulated, b"\x01\x01"), answer(simulated, b"\x02")
            _, _, hardware, slot, page, chunk, buffer = struct.unpack("<BBIIIHH", info[2:])
            size, crc = struct.unpack_from("<II", running, 6)
            old = pathlib.Path(path + ".flash").read_bytes()[:size]
            new = edited(old)[:IMAGE]
            bits = answer(simulated, b"\x0d")[5:7]
            board = Board(hardware, slot, chunk, buffer, None, *bits)
            model = Model(board, Running(running[2:6], size, crc, image=old), page)
            for codec in CODECS:
                for part in PARTS:
                    for base in (old, b"") if part > len(new) else (old,):
                        content = stream(base, new, codec, part)
                        for name, device in (("C", simulated), ("Python", model)):
                            fault = flash(device, base, content, new, hardware, chunk)
                            count += 1
                            failures += fault is not None
                            if fault:
                                print(f"FAILED: {codec}, parts of {part}, device in {name}: {fault}")
            # The last image is activated and runs.
            try:
                answer(simulated, b"\x09")
            except IndexError:
                pass  # the link ends as the device restarts
            simulated.disconnect()
            simulated.connect()
            runs = struct.unpack_from("<II", answer(simulated, b"\x02"), 6)
            failures += runs != (len(new), zlib.crc32(new))
        finally:
            process.kill()
            process.wait()
        ours = Ours(codec_program, folder)
        for codec in CODECS:
            patch, _ = ours.patch(old, new, codec)
            whole = HEADER.pack(0, len(new), len(patch), zlib.crc32(new)) + patch
            count += 1
            failures += applied(whole, old, len(new), 4096) != new
    print(f"{count} patches over the protocol, {failures} failed")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
