"""The behavior of a hostile device, drawn from a seed: the same seed repeats the behavior.

The class `Hostility` is placed between a device that follows docs/ota-service.md and the socket, and changes
the outgoing PDUs.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator

from att_server import CONTROL, DATA, INDICATION, NOTIFICATION, STATUS

BUSY = 0x80
RECEIVING = 1
FLOOD_MAXIMUM = 3000
PAUSE_MAXIMUM = 3.0
RUNNING = 0x82


class Close(Exception):
    """The device ends the link."""


class Hostility:
    """The mutations of one seed, over all connections of one run."""

    def __init__(self, seed: int):
        self._random = random.Random(f"hostility {seed}")
        self.names = [self._random.choice(sorted(MUTATIONS))]
        if self._random.random() < 0.4:
            self.names.append(self._random.choice(sorted(MUTATIONS)))
        self._often = self._random.choice((0.002, 0.02, 0.2))
        self._first = self._random.choice((0, 10, 40, 100))
        self._count = 0
        self._flips = 0
        self.pause = 0.0
        # The running image as last reported to the host. Only an update to this image may be
        # reported as a success.
        self.told_running = b""

    @property
    def may_never_take(self) -> bool:
        return any(name in STUBBORN for name in self.names)

    def outgoing(self, pdu: bytes, request: bytes) -> Iterator[bytes]:
        """Yields the PDUs that replace a PDU. `request` is the request that the PDU answers, if any."""
        self._count += 1
        pdus = [pdu]
        for name in self.names:
            pdus = [out for one in pdus for out in MUTATIONS[name](self, one, request)]
        for out in pdus:
            if out[:4] == struct.pack("<BHB", INDICATION, CONTROL, RUNNING):
                self.told_running = out[5:]
            yield out

    def happens(self) -> bool:
        return self._count > self._first and self._random.random() < self._often

    # Each of these functions receives a PDU and returns its replacements.

    def honest(self, pdu: bytes, request: bytes) -> list[bytes]:
        return [pdu]

    def flip(self, pdu: bytes, request: bytes) -> list[bytes]:
        if not self.happens():
            return [pdu]
        data = bytearray(pdu)
        for _ in range(self._random.choice((1, 1, 4))):
            data[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)
        return [bytes(data)]

    def drop(self, pdu: bytes, request: bytes) -> list[bytes]:
        return [] if self.happens() else [pdu]

    def repeat(self, pdu: bytes, request: bytes) -> list[bytes]:
        return [pdu, pdu] if self.happens() else [pdu]

    def nonsense(self, pdu: bytes, request: bytes) -> list[bytes]:
        if not self.happens():
            return [pdu]
        return [self._random.randbytes(self._random.choice((1, 2, 5, 23, 517, 600))), pdu]

    def cut_short(self, pdu: bytes, request: bytes) -> list[bytes]:
        return [pdu[: self._random.randrange(1, len(pdu) + 1)]] if self.happens() else [pdu]

    def close(self, pdu: bytes, request: bytes) -> list[bytes]:
        if self.happens():
            raise Close
        return [pdu]

    def flood(self, pdu: bytes, request: bytes) -> list[bytes]:
        if self._count <= self._first or self._random.random() > self._often / 4:
            return [pdu]
        handle = self._random.choice((0x7FFF, STATUS, CONTROL, 0))
        one = struct.pack("<BH", NOTIFICATION, handle) + self._random.randbytes(16)
        return [one] * self._random.randrange(1, FLOOD_MAXIMUM) + [pdu]

    def ask(self, pdu: bytes, request: bytes) -> list[bytes]:
        if not self.happens():
            return [pdu]
        questions = ("020502", "040100ffff", "0a0300", "1dff7f01", "2e0102", "160300000041", "1e")
        return [bytes.fromhex(self._random.choice(questions)), pdu]

    def slow(self, pdu: bytes, request: bytes) -> list[bytes]:
        if self.happens():
            self.pause = self._random.uniform(0, PAUSE_MAXIMUM)
        return [pdu]

    def mute(self, pdu: bytes, request: bytes) -> list[bytes]:
        return [] if self._count > self._first + 20 else [pdu]

    def lie(self, pdu: bytes, request: bytes) -> list[bytes]:
        """Returns a Status with random fields."""
        status = self._status(pdu, request)
        if status is None or not self.happens():
            return [pdu]
        draw = self._random
        state, error, window, *offsets = struct.unpack("<BBHIII", status)
        fields = [draw.randrange(6), draw.randrange(8), draw.choice((0, 1, 49, 65535)), *offsets]
        fields[3 + draw.randrange(3)] = draw.choice((0, 1, 4096, 1 << 31, (1 << 32) - 1))
        kept = [state, error, window, *offsets]
        mixed = [draw.choice(pair) for pair in zip(fields, kept)]
        return [self._with_status(pdu, struct.pack("<BBHIII", *mixed))]

    def answer_wrongly(self, pdu: bytes, request: bytes) -> list[bytes]:
        if pdu[:3] != struct.pack("<BH", INDICATION, CONTROL) or not self.happens():
            return [pdu]
        draw = self._random
        value = bytearray(pdu[3:])
        match draw.randrange(4):
            case 0:
                value[0] = draw.randrange(256)
            case 1:
                value[1] = draw.randrange(256)
            case 2:
                value += draw.randbytes(draw.randrange(1, 5))
            case _:
                del value[draw.randrange(1, len(value)) :]
        return [pdu[:3] + bytes(value)]

    def refuse(self, pdu: bytes, request: bytes) -> list[bytes]:
        if pdu == b"\x13" and self.happens():
            code = self._random.choice((0x01, 0x03, 0x05, 0x0D, 0x0E, 0x80, 0x81, 0x82, 0x83, 0xFF))
            return [struct.pack("<BBHB", 1, 0x12, struct.unpack_from("<H", request, 1)[0], code)]
        return [pdu]

    # These devices never accept data, and the host must give up without help.

    def flap(self, pdu: bytes, request: bytes) -> list[bytes]:
        return [self._withheld(pdu, request, lambda: (self._flip(), None))]

    def flap_wide(self, pdu: bytes, request: bytes) -> list[bytes]:
        self._flips += 1
        return [self._withheld(pdu, request, lambda: (self._flips % 16, None))]

    def wander(self, pdu: bytes, request: bytes) -> list[bytes]:
        return [self._withheld(pdu, request, lambda: (0, self._random.randrange(7)))]

    def always_busy(self, pdu: bytes, request: bytes) -> list[bytes]:
        """Reports an open window, but refuses each write."""
        if pdu == b"\x13" and request[:3] == struct.pack("<BH", 0x12, DATA):
            return [struct.pack("<BBHB", 1, 0x12, DATA, BUSY)]
        return [self._withheld(pdu, request, lambda: (1024, 0))]

    def _flip(self) -> int:
        self._flips += 1
        return self._flips & 1

    def _withheld(self, pdu: bytes, request: bytes, fields: Callable) -> bytes:
        status = self._status(pdu, request)
        if status is None or status[0] != RECEIVING:
            return pdu
        window, durable = fields()
        new = bytearray(status)
        struct.pack_into("<H", new, 2, window)
        if durable is not None:
            struct.pack_into("<I", new, 12, durable)
        if window == 1024:
            struct.pack_into("<II", new, 4, 0, 0)
        return self._with_status(pdu, bytes(new))

    @staticmethod
    def _status(pdu: bytes, request: bytes) -> bytes | None:
        if len(pdu) == 19 and pdu[:3] == struct.pack("<BH", NOTIFICATION, STATUS):
            return pdu[3:]
        if len(pdu) == 17 and pdu[0] == 0x0B and request == struct.pack("<BH", 0x0A, STATUS):
            return pdu[1:]
        return None

    @staticmethod
    def _with_status(pdu: bytes, status: bytes) -> bytes:
        return pdu[: len(pdu) - 16] + status


STUBBORN = {
    "flap": Hostility.flap,
    "flap-wide": Hostility.flap_wide,
    "wander": Hostility.wander,
    "always-busy": Hostility.always_busy,
}
MUTATIONS = STUBBORN | {
    "honest": Hostility.honest,
    "flip": Hostility.flip,
    "drop": Hostility.drop,
    "repeat": Hostility.repeat,
    "nonsense": Hostility.nonsense,
    "cut-short": Hostility.cut_short,
    "close": Hostility.close,
    "flood": Hostility.flood,
    "ask": Hostility.ask,
    "slow": Hostility.slow,
    "mute": Hostility.mute,
    "lie": Hostility.lie,
    "answer-wrongly": Hostility.answer_wrongly,
    "refuse": Hostility.refuse,
}
