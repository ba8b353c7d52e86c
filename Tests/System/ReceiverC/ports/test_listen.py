"""Tests a port on a Unix socket (ports/listen.c): discovery, an update during which the device is killed,
and the restart into the new image.

Usage: test_listen.py DEVICE [--esp]

--esp: the bootloader of the device requires the image format of ESP-IDF.
"""

import hashlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import zlib

BOARD = 0x0000A001
SIZE = 60_000
CHUNK = 240
SERVICE = bytes.fromhex("29956956db74dc8b0748b42101003e2f")
CONTROL, CONTROL_CCCD, DATA, STATUS, STATUS_CCCD = 3, 4, 6, 8, 9


def new_esp_image() -> bytes:
    """Version 1.5.3, with one segment, which starts with the description of the application."""
    segment = bytearray(i * 7 & 0xFF for i in range(SIZE - 32 - 16 - 32))
    segment[:256] = struct.pack("<II8x32s32s176x", 0xABCD5432, 0, b"1.5.3", b"door")
    header = struct.pack("<BBBBIB3xHBHHBBBBB", 0xE9, 1, 2, 0x20, 0x40380000, 0xEE, 5, 0, 0, 0, 0, 0, 0, 0, 1)
    checksum = 0xEF
    for byte in segment:
        checksum ^= byte
    image = header + struct.pack("<II", 0x3C000020, len(segment)) + segment + bytes(15) + bytes([checksum])
    return image + hashlib.sha256(image).digest()


def new_image() -> bytes:
    """Version 1.5.3, with the MCUboot header and TLVs for Zephyr, and the descriptor for the nRF5."""
    image = bytearray(i * 7 & 0xFF for i in range(SIZE))
    image[:32] = struct.pack("<IIHHIIBBHII", 0x96F3B83D, 0, 32, 0, SIZE - 40, 0, 1, 5, 3, 0, 0)
    image[-8:] = struct.pack("<HHI", 0x6907, 8, 0)
    descriptor = b"OTAimg\xd1\x5c" + struct.pack("<B3xIBBH8x", 1, BOARD, 1, 5, 3)
    image[64:96] = descriptor + struct.pack("<I", zlib.crc32(descriptor))
    return bytes(image)


class Host:
    def __init__(self, path: str):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(20)
        self._socket.connect(path)
        self._values: dict[int, bytes] = {}
        assert self.ask(struct.pack("<BH", 0x02, 512)) == struct.pack("<BH", 0x03, 247)

    def ask(self, request: bytes) -> bytes:
        """Returns the response to a request; keeps the values that arrive before it."""
        self._socket.send(request)
        while True:
            pdu = self._receive()
            if pdu[0] not in (0x1B, 0x1D):
                return pdu

    def command(self, pdu: bytes) -> None:
        self._socket.send(pdu)

    def subscribe(self) -> None:
        for handle, bits in ((CONTROL_CCCD, 2), (STATUS_CCCD, 1)):
            assert self.ask(struct.pack("<BHH", 0x12, handle, bits)) == b"\x13"

    def control(self, request: bytes) -> bytes:
        """Returns the payload of the answer."""
        self._values.pop(CONTROL, None)
        assert self.ask(struct.pack("<BH", 0x12, CONTROL) + request) == b"\x13"
        while CONTROL not in self._values:
            self._receive()
        answer = self._values[CONTROL]
        assert answer[0] == request[0] | 0x80 and answer[1] == 0, answer.hex()
        return answer[2:]

    def send(self, image: bytes, end: int) -> None:
        """Sends within the window of the device; every tenth write is a request."""
        count = 0
        while True:
            status = self.ask(struct.pack("<BH", 0x0A, STATUS))[1:]
            window, offset = struct.unpack_from("<HI", status, 2)
            if offset >= end:
                return
            if window < CHUNK:
                continue
            write = struct.pack("<HI", DATA, offset) + image[offset : min(offset + CHUNK, end)]
            count += 1
            if count % 10 == 0:
                assert self.ask(b"\x12" + write) == b"\x13"
            else:
                self.command(b"\x52" + write)

    def wait_for_end(self) -> None:
        while self._socket.recv(1024):
            pass

    def _receive(self) -> bytes:
        pdu = self._socket.recv(1024)
        assert pdu, "the device has disconnected"
        if pdu[0] in (0x1B, 0x1D):
            self._values[struct.unpack_from("<H", pdu, 1)[0]] = pdu[3:]
        if pdu[0] == 0x1D:
            self._socket.send(b"\x1e")
        return pdu


def discover(host: Host) -> None:
    service = struct.pack("<BBHH", 0x11, 20, 1, 9) + SERVICE
    assert host.ask(struct.pack("<BHHH", 0x10, 1, 0xFFFF, 0x2800)) == service
    declarations = host.ask(struct.pack("<BHHH", 0x08, 1, 0xFFFF, 0x2803))
    assert declarations[1] == 21 and len(declarations) == 2 + 3 * 21
    descriptors = host.ask(struct.pack("<BHH", 0x04, 1, 0xFFFF))
    assert descriptors[2:] == struct.pack("<HHHH", CONTROL_CCCD, 0x2902, STATUS_CCCD, 0x2902)
    # Unknown requests and attributes have an error response, and unknown commands have none.
    assert host.ask(b"\x16\x03\x00\x00\x00") == b"\x01\x16\x03\x00\x06"
    host.command(b"\xd2\x03\x00")
    assert host.ask(struct.pack("<BH", 0x0A, 77)) == b"\x01\x0a\x4d\x00\x01"
    assert host.ask(struct.pack("<BHB", 0x12, CONTROL, 1)) == b"\x01\x12\x03\x00\xfd"


def start(device: str, path: str, flash: str) -> subprocess.Popen:
    process = subprocess.Popen([device, path, flash], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"listening\n"
    return process


def main() -> None:
    device = os.path.abspath(sys.argv[1])
    image = new_esp_image() if "--esp" in sys.argv else new_image()
    assert len(image) == SIZE
    begin = struct.pack("<BBIIBBHI", 0x06, 0, SIZE, zlib.crc32(image), 1, 5, 3, BOARD)
    with tempfile.TemporaryDirectory() as folder:
        path, flash = folder + "/socket", folder + "/flash"
        process = start(device, path, flash)
        try:
            host = Host(path)
            discover(host)
            host.subscribe()
            assert host.control(b"\x01\x01")[2:6] == struct.pack("<I", BOARD)
            host.control(begin)
            host.send(image, SIZE // 2)
            process.send_signal(signal.SIGKILL)
            process.wait()

            process = start(device, path, flash)
            host = Host(path)
            host.subscribe()
            (held,) = struct.unpack_from("<I", host.control(begin))
            assert SIZE // 4 < held <= SIZE // 2, held
            host.send(image, SIZE)
            assert host.control(b"\x08") == struct.pack("<I", zlib.crc32(image))
            host.control(b"\x09")
            host.wait_for_end()

            host = Host(path)
            host.subscribe()
            running = struct.pack("<BBHIIBB", 1, 5, 3, SIZE, zlib.crc32(image), 1, 1)
            assert host.control(b"\x02") == running
            host.control(b"\x0a")
        finally:
            process.kill()
            process.wait()
    print("a port on a socket: killed at half, resumed, confirmed")


main()
