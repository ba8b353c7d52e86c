"""A device with MCUboot behind a Unix socket: ATT by hand, SMP by the Python package `smp`.

usage: smp_device.py SOCKET IMAGE [LOST...]

IMAGE runs at first. Upload requests number LOST (from 1) are lost. Written from Zephyr's documentation
of the image group, and shares nothing with otaflash. Serves one host after the other until it is
killed; what runs is written to standard output at each start.
"""

import os
import socket
import struct
import sys
from typing import NamedTuple

import cbor2
from smp import header, image_management, os_management

SERVICE = bytes.fromhex("8d53dc1d1db74cd3868b8a527460aa84")[::-1]
CHARACTERISTIC = bytes.fromhex("da2e7828fbce4e01ae9e261174997c48")[::-1]
VALUE, CONFIGURATION = 3, 4
MTU = 498
BUFFER = 1200


class Head(NamedTuple):
    """A header; `smp`'s own knows no slot info."""

    version: header.Version
    op: int
    length: int
    group: int
    sequence: int
    command: int

    @classmethod
    def of(cls, octets: bytes) -> "Head":
        first, _, length, group, sequence, command = struct.unpack_from("!BBHHBB", octets)
        return cls(header.Version(first >> 3 & 3), first & 7, length, group, sequence, command)

    def answered(self, body: bytes) -> bytes:
        first = self.version << 3 | self.op + 1
        return struct.pack(
            "!BBHHBB", first, 0, len(body), self.group, self.sequence, self.command
        ) + body


class Image:
    """Version and hash of an MCUboot image."""

    def __init__(self, octets: bytes) -> None:
        magic, _, head, protected, size = struct.unpack_from("<IIHHI", octets)
        if magic != 0x96F3B83D:
            raise ValueError("no MCUboot image")
        self.octets = octets
        self.version = "{}.{}.{}.{}".format(*struct.unpack_from("<BBHI", octets, 20))
        offset = head + size + protected
        end = offset + struct.unpack_from("<HH", octets, offset)[1]
        offset += 4
        self.hash = b""
        while offset < end:
            kind, length = struct.unpack_from("<HH", octets, offset)
            if kind == 0x10:
                self.hash = octets[offset + 4 : offset + 4 + length]
            offset += 4 + length


class Device:
    """The image group's rules, and a boot loader that swaps."""

    def __init__(self, image: bytes, lost: set[int]) -> None:
        self.slots = [Image(image), None]
        self.confirmed = True
        self.pending = False
        self.lost = lost
        self.uploads = 0
        self.upload = None
        self.resets = False

    def boot(self) -> None:
        if self.pending or not self.confirmed:
            self.slots.reverse()
            self.confirmed = not self.pending
        self.pending = self.resets = False
        self.upload = None
        print("runs", self.slots[0].version, flush=True)

    def answer(self, head: Head, body: dict):
        """The response to a request; None where none is sent."""
        write = head.op == header.OP.WRITE
        command = (head.group, head.command, write)
        if command == (0, 6, False):
            return os_management.MCUMgrParametersReadResponse, {
                "buf_size": BUFFER,
                "buf_count": 4,
            }
        if command == (0, 0, True):
            return os_management.EchoWriteResponse, {"r": body["d"]}
        if command == (0, 5, True):
            self.resets = True
            return os_management.ResetWriteResponse, {}
        if command == (1, 0, False):
            return image_management.ImageStatesReadResponse, self.state()
        if command == (1, 0, True):
            return self.set_state(body)
        if command == (1, 1, True):
            return self.take(body)
        return os_management.OSManagementErrorV1, {"rc": 8}

    def state(self) -> dict:
        slots = []
        for number, image in enumerate(self.slots):
            if image is None:
                continue
            slots.append(
                image_management.ImageState(
                    slot=number,
                    version=image.version,
                    hash=image.hash,
                    bootable=True,
                    pending=number == 1 and self.pending,
                    confirmed=self.confirmed if number == 0 else not self.confirmed,
                    active=number == 0,
                    permanent=False,
                )
            )
        return {"images": slots, "splitStatus": 0}

    def set_state(self, body: dict):
        if body.get("confirm"):
            self.confirmed = True
        elif self.slots[1] is not None and self.slots[1].hash == body["hash"]:
            self.pending = True
        else:
            return image_management.ImageManagementErrorV2, {"err": {"group": 1, "rc": 8}}
        return image_management.ImageStatesWriteResponse, self.state()

    def take(self, body: dict):
        self.uploads += 1
        if self.uploads in self.lost:
            return None
        if body["off"] == 0 and (self.upload is None or self.upload["sha"] != body["sha"]):
            self.upload = {"sha": body["sha"], "len": body["len"], "data": b""}
            self.slots[1] = None
        if self.upload is None:
            return image_management.ImageUploadWriteResponse, {"off": 0}
        if body["off"] == len(self.upload["data"]):
            self.upload["data"] += body["data"]
        offset = len(self.upload["data"])
        if offset == self.upload["len"]:
            self.slots[1] = Image(self.upload["data"])
            self.upload = None
        return image_management.ImageUploadWriteResponse, {"off": offset}


class Connection:
    """One host: the few ATT procedures that it needs, and messages in parts."""

    def __init__(self, link: socket.socket, device: Device) -> None:
        self.link = link
        self.device = device
        self.mtu = 23
        self.gathered = b""

    def serve(self) -> None:
        while not self.device.resets:
            pdu = self.link.recv(1024)
            if not pdu:
                return
            if pdu[0] == 0x52:
                self.written(pdu[3:])
            elif (response := self.respond(pdu)) is not None:
                self.link.send(response)

    def respond(self, pdu: bytes) -> bytes | None:
        opcode = pdu[0]
        if opcode == 0x02:
            self.mtu = min(MTU, struct.unpack_from("<H", pdu, 1)[0])
            return struct.pack("<BH", 0x03, MTU)
        if opcode == 0x12:
            return b"\x13"
        start = struct.unpack_from("<H", pdu, 1)[0]
        if opcode == 0x10 and start == 1:
            return struct.pack("<BBHH", 0x11, 20, 1, 4) + SERVICE
        if opcode == 0x06 and start == 1 and pdu[7:] == SERVICE:
            return struct.pack("<BHH", 0x07, 1, 4)
        if opcode == 0x08 and start <= 2 and pdu[5:] == b"\x03\x28":
            return struct.pack("<BBHBH", 0x09, 21, 2, 0x14, VALUE) + CHARACTERISTIC
        if opcode == 0x04 and start <= CONFIGURATION:
            return struct.pack("<BBHH", 0x05, 1, CONFIGURATION, 0x2902)
        if opcode == 0x1E:
            return None
        return struct.pack("<BBHB", 0x01, opcode, start, 0x0A)

    def written(self, value: bytes) -> None:
        self.gathered += value
        if len(self.gathered) < header.Header.SIZE:
            return
        head = Head.of(self.gathered)
        if len(self.gathered) < header.Header.SIZE + head.length:
            return
        body = cbor2.loads(self.gathered[header.Header.SIZE :])
        self.gathered = b""
        answer = self.device.answer(head, body)
        if answer is None:
            return
        self.notify(self.encoded(head, *answer))

    @staticmethod
    def encoded(head: Head, kind: type, fields: dict) -> bytes:
        """The body as `smp` encodes it. The header is that of the request: errors belong to the command
        that was asked, and `smp` calls the answer to a state write one to a read.
        """
        if "Error" in kind.__name__:
            return head.answered(cbor2.dumps(fields))
        return head.answered(bytes(kind(**fields))[header.Header.SIZE :])

    def notify(self, message: bytes) -> None:
        size = self.mtu - 3
        for start in range(0, len(message), size):
            self.link.send(struct.pack("<BH", 0x1B, VALUE) + message[start : start + size])


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path = sys.argv[1]
    with open(sys.argv[2], "rb") as file:
        device = Device(file.read(), {int(number) for number in sys.argv[3:]})
    if os.path.exists(path):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen(1)
        print("runs", device.slots[0].version, flush=True)
        while True:
            link, _ = listener.accept()
            with link:
                try:
                    Connection(link, device).serve()
                except (ConnectionError, BrokenPipeError):
                    pass
            if device.resets:
                device.boot()


main()
