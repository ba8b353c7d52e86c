"""The rules of a device with MCUboot and the SMP service, independent of the transport. The messages are
those of the Python package `smp`. The rules were written from Zephyr's documentation of the image group,
and share no code with otaflash.
"""

import struct
from collections.abc import Collection
from typing import NamedTuple

import cbor2
from smp import header, image_management, os_management

SERVICE = "8d53dc1d-1db7-4cd3-868b-8a527460aa84"
CHARACTERISTIC = "da2e7828-fbce-4e01-ae9e-261174997c48"
BUFFER = 1200


class Head(NamedTuple):
    """A header, because that of `smp` does not support slot info."""

    version: header.Version
    op: int
    length: int
    group: int
    sequence: int
    command: int

    @classmethod
    def of(cls, data: bytes) -> "Head":
        first, _, length, group, sequence, command = struct.unpack_from("!BBHHBB", data)
        return cls(header.Version(first >> 3 & 3), first & 7, length, group, sequence, command)

    def answered(self, body: bytes) -> bytes:
        first = self.version << 3 | self.op + 1
        return struct.pack(
            "!BBHHBB", first, 0, len(body), self.group, self.sequence, self.command
        ) + body


class Image:
    """The version and the hash of an MCUboot image."""

    def __init__(self, data: bytes) -> None:
        magic, _, head, protected, size = struct.unpack_from("<IIHHI", data)
        if magic != 0x96F3B83D:
            raise ValueError("not an MCUboot image")
        self.data = data
        self.version = "{}.{}.{}.{}".format(*struct.unpack_from("<BBHI", data, 20))
        offset = head + size + protected
        end = offset + struct.unpack_from("<HH", data, offset)[1]
        offset += 4
        self.hash = b""
        while offset < end:
            kind, length = struct.unpack_from("<HH", data, offset)
            if kind == 0x10:
                self.hash = data[offset + 4 : offset + 4 + length]
            offset += 4 + length


class Board:
    """The rules of the image group, and a bootloader that swaps. The upload requests with the numbers in
    `lost` (from 1) are never answered.
    """

    def __init__(self, image: bytes, lost: Collection[int] = ()) -> None:
        self.slots = [Image(image), None]
        self.confirmed = True
        self.pending = False
        self.lost = lost
        self.uploads = 0
        self.upload = None
        self.resets = False

    @property
    def running(self) -> Image:
        return self.slots[0]

    def boot(self) -> None:
        if self.pending or not self.confirmed:
            self.slots.reverse()
            self.confirmed = not self.pending
        self.pending = self.resets = False
        self.upload = None

    def answer(self, head: Head, body: dict):
        """Returns the class and the fields of the response to a request; `None` if the request is lost."""
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


class Conversation:
    """The messages of one host: requests arrive in parts of any length."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.gathered = b""

    def written(self, part: bytes) -> bytes | None:
        """Returns the response if this part completes a request that has one."""
        self.gathered += part
        if len(self.gathered) < header.Header.SIZE:
            return None
        head = Head.of(self.gathered)
        if len(self.gathered) < header.Header.SIZE + head.length:
            return None
        body = cbor2.loads(self.gathered[header.Header.SIZE :])
        self.gathered = b""
        answer = self.board.answer(head, body)
        return None if answer is None else self.encoded(head, *answer)

    @staticmethod
    def encoded(head: Head, kind: type, fields: dict) -> bytes:
        """Returns the answer, with the body as `smp` encodes it. The header is that of the request: errors belong
        to the requested command, and `smp` encodes the answer to a state write as one to a read.
        """
        if "Error" in kind.__name__:
            return head.answered(cbor2.dumps(fields))
        return head.answered(bytes(kind(**fields))[header.Header.SIZE :])
