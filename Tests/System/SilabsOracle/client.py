"""Updates a device at a Unix socket with PyPI's silabs-ble-ota, whose BleakClient is replaced by the ATT client in
this file.

usage: client.py SOCKET

First sends a file with a wrong checksum, which the loader must reject, and then a correct file twice, with and
without `fast`. After each correct file, the application must report the version of the file.
"""

import asyncio
import random
import socket
import struct
import sys
import time
import types
import zlib
from uuid import UUID

from silabs_ble_ota import ota

CONTROL, DATA = ota.OTA_CONTROL_UUID, ota.OTA_DATA_UUID
FIRMWARE_REVISION = "00002a26-0000-1000-8000-00805f9b34fb"
BASE = bytes.fromhex("fb349b5f80000080001000000000")
ADDRESS = 0x12000
VERSION = (1, 3, 0)


class Refused(Exception):
    """An ATT Error Response."""


class Client:
    """The methods of a BleakClient that the package uses, over a socket with one PDU per message."""

    def __init__(self, path: str) -> None:
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.link.settimeout(30)
        self.link.connect(path)
        self.request(struct.pack("<BH", 0x02, 247))
        self.handles = {}
        start = 1
        while start <= 0xFFFF:
            try:
                answer = self.request(struct.pack("<BHHH", 0x08, start, 0xFFFF, 0x2803))
            except Refused:
                break
            for entry in range(2, len(answer), answer[1]):
                declaration, _, handle = struct.unpack_from("<HBH", answer, entry)
                uuid = answer[entry + 5 : entry + answer[1]]
                if len(uuid) == 2:
                    uuid = BASE[:12] + uuid + b"\0\0"
                self.handles[str(UUID(bytes=uuid[::-1]))] = handle
                start = declaration + 1
        characteristics = [types.SimpleNamespace(uuid=uuid) for uuid in self.handles]
        self.services = [types.SimpleNamespace(characteristics=characteristics)]

    def request(self, pdu: bytes) -> bytes:
        self.link.send(pdu)
        while True:
            answer = self.link.recv(1024)
            if not answer:
                raise ConnectionError("the device closed the link")
            if answer[0] == 0x01:
                raise Refused(f"ATT error 0x{answer[4]:02x}")
            if answer[0] == pdu[0] + 1:
                return answer

    def read(self, uuid: str) -> bytes:
        return self.request(struct.pack("<BH", 0x0A, self.handles[uuid]))[1:]

    async def write_gatt_char(self, uuid: str, value: bytes, response: bool) -> None:
        pdu = struct.pack("<BH", 0x12 if response else 0x52, self.handles[uuid]) + bytes(value)
        if response:
            self.request(pdu)
        else:
            self.link.send(pdu)

    async def disconnect(self) -> None:
        self.link.close()


def file(damage: int = 0) -> bytes:
    """Returns a GBL file whose program contains an image descriptor."""
    program = bytearray(random.Random(1).randbytes(30_000))
    block = b"OTAimg\xd1\x5c" + struct.pack("<B3xIBBH8x", 1, 0, *VERSION)
    program[64:96] = block + struct.pack("<I", zlib.crc32(block))
    number = VERSION[0] << 24 | VERSION[1] << 16 | VERSION[2]
    tags = [
        (0x03A617EB, struct.pack("<II", 0x03000000, 0)),
        (0xF40A0AF4, struct.pack("<III", 0x20, number, 0) + bytes(16)),
        (0xFD0303FD, struct.pack("<I", ADDRESS) + bytes(program)),
    ]
    result = b"".join(struct.pack("<II", tag, len(value)) + value for tag, value in tags)
    result += struct.pack("<II", 0xFC0404FC, 4)
    return result + struct.pack("<I", zlib.crc32(result) ^ damage)


def connected(path: str) -> Client:
    """Connects, also while the device restarts."""
    for _ in range(100):
        try:
            return Client(path)
        except OSError:
            time.sleep(0.2)
    raise SystemExit("client.py: the device did not answer")


async def main(path: str) -> None:
    async def connect(*_, **__) -> Client:
        return connected(path)

    ota.establish_connection = connect
    ota.APPLOADER_BOOT_DELAY = 0.5
    device = types.SimpleNamespace(name="OTA")
    client = connected(path)
    if DATA not in client.handles:
        await client.write_gatt_char(CONTROL, b"\0", response=True)
        client.link.recv(1024)
    await client.disconnect()
    try:
        await ota.perform_silabs_ota(file(damage=1), device, fast=True)
        raise SystemExit("client.py: the loader accepted a wrong checksum")
    except ota.SilabsOTAError as error:
        if "0x80" not in str(error):
            raise
    for fast in (True, False):
        client = connected(path)
        if DATA not in client.handles:
            await client.write_gatt_char(CONTROL, b"\0", response=True)
            client.link.recv(1024)
        await client.disconnect()
        await ota.perform_silabs_ota(file(), device, fast=fast)
        client = connected(path)
        revision = client.read(FIRMWARE_REVISION).decode()
        await client.disconnect()
        if DATA in client.handles or revision != ".".join(map(str, VERSION)):
            raise SystemExit(f"client.py: the device runs {revision}")


asyncio.run(main(sys.argv[1]))
