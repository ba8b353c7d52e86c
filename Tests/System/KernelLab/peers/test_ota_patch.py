"""Patch sessions: the vectors of docs/ota-service.md, 11.1, and power failures in all flash operations."""

from __future__ import annotations

import random
import struct
import unittest
import zlib

from ota_flash import ERASED, Flash
from ota_patch import PartMismatch, PatchRefused, applied
from ota_protocol import ATTError, Board, Indication, Notification, Reset, Running
from ota_receiver import Receiver
from patch_maker import announcement, stream

PAGE, ROW, SLOT, HARDWARE = 0x400, 64, 0x4000, 0xA001
BASE = bytes(range(64))
PATCH = bytes.fromhex("028301000200200 10A000001A0011500000603 4E45570020012100000160".replace(" ", ""))
IMAGE = BASE[:10] + b"\xaa" + BASE[11:32] + b"NEW" + BASE[32:]
STREAM = struct.pack("<IIII", 0, 67, len(PATCH), zlib.crc32(IMAGE)) + PATCH


class PowerFailure(Exception):
    pass


class FailingFlash(Flash):
    """A flash whose power fails in operation `fails_in`, counted from 1; 0 = never."""

    def __init__(self, cells: bytearray, fails_in: int, draw: random.Random):
        super().__init__(cells, PAGE, ROW)
        self._operations, self._fails_in, self._draw = 0, fails_in, draw

    def _now(self) -> bool:
        self._operations += 1
        return self._operations == self._fails_in

    def _erase_cells(self, offset: int) -> None:
        if self._now():
            for cell in range(offset, offset + PAGE):
                self.cells[cell] |= self._draw.randrange(256)
            raise PowerFailure
        super()._erase_cells(offset)

    def _program_cells(self, offset: int, row: bytes) -> None:
        if self._now():
            end = self._draw.randint(0, len(row))
            super()._program_cells(offset, row[:end].ljust(len(row), bytes([ERASED])))
            raise PowerFailure
        super()._program_cells(offset, row)


class Host:
    """A direct connection to a receiver with patches."""

    def __init__(self, base: bytes, flash: Flash | None = None, window_bits: int | None = 10):
        self.flash = flash or Flash(bytearray([ERASED]) * (SLOT + 2 * PAGE), PAGE, ROW)
        version = struct.pack("<BBH", 1, 2, 3)
        self.running = Running(version, len(base), zlib.crc32(base), image=base)
        board = Board(HARDWARE, SLOT, 100, 1024, window_bits=window_bits)
        self.receiver = Receiver(board, self.running, self.flash, bytes, lambda: None)
        self.statuses: list[bytes] = []
        self.reset: Reset | None = None
        self.connect()

    def connect(self) -> None:
        self.receiver.connected()
        self.receiver.control_cccd(2)
        self.receiver.status_cccd(1)

    def run(self) -> bytes | None:
        answer = None
        while self.receiver.step() is not None:
            pass
        while self.receiver.outbox:
            match self.receiver.outbox.popleft():
                case Notification(value):
                    self.statuses.append(value)
                case Indication(value, _):
                    answer = value
                    self.receiver.indication_ended()
                case Reset() as reset:
                    self.reset = reset
        return answer

    def request(self, value: bytes) -> bytes | None:
        assert self.receiver.control_write(value) == ATTError.NONE
        return self.run()

    def begin(self, image: bytes, flags: int = 16) -> bytes | None:
        return self.request(
            b"\x06" + struct.pack("<BIIBBHI", flags, len(image), zlib.crc32(image), 1, 3, 0, HARDWARE)
        )

    @property
    def next(self) -> int:
        return struct.unpack_from("<I", self.receiver.status_read(), 4)[0]

    @property
    def state(self) -> int:
        return self.receiver.status_read()[0]

    def send(self, content: bytes, end: int | None = None) -> None:
        """Sends from the device's offset, which may go back."""
        end = len(content) if end is None else end
        for _ in range(4 * len(content)):
            if self.state != 1 or self.next >= end:
                return
            offset = self.next
            chunk = content[offset : min(offset + 100, end)]
            assert self.receiver.data_write(struct.pack("<I", offset) + chunk, False) == 0
            self.run()

    def update(self, base: bytes, content: bytes, image: bytes) -> bytes | None:
        """Returns the answer to VERIFY at the end."""
        assert self.request(announcement(base, content)) == b"\x8e\x00"
        assert self.begin(image)[:2] == b"\x86\x00"
        self.send(content)
        return self.request(b"\x08")

    def slot(self, size: int) -> bytes:
        return self.flash.read(2 * PAGE, size)


def from_hex(text: str) -> bytes:
    return bytes.fromhex(text)


def verified(image: bytes) -> bytes:
    return b"\x88\x00" + struct.pack("<I", zlib.crc32(image))


class VectorTests(unittest.TestCase):
    """The vectors of section 11.1 in their order. This device does not erase ahead."""

    def test_vectors(self):
        host = Host(BASE)
        info = host.request(from_hex("0101"))
        self.assertEqual(info, from_hex("8100010C01A000000040000000040000 64000004"))
        self.assertEqual(
            host.request(from_hex("0D")), from_hex("8D000215000A0A00040000400000008CCE0E1000")
        )
        self.assertEqual(host.request(from_hex("0F")), from_hex("8F00") + bytes(16))
        self.assertEqual(host.begin(IMAGE), from_hex("8603"))
        self.assertEqual(
            host.request(from_hex("0E400000008DCE0E102E0000008CA024DF")),
            from_hex("8E0F400000008CCE0E10"),
        )
        patch = from_hex("0E400000008CCE0E102E0000008CA024DF")
        self.assertEqual(patch, announcement(BASE, STREAM))
        self.assertEqual(host.request(patch), from_hex("8E00"))
        self.assertEqual(host.begin(IMAGE), from_hex("8600") + bytes(8))
        host.send(STREAM, 20)
        self.assertEqual(
            host.request(from_hex("0F")), from_hex("8F002E0000008CA024DF1400000000000000")
        )
        self.assertEqual(host.request(from_hex("03")), from_hex("8300") + bytes(16))
        host.send(STREAM)
        self.assertEqual(host.request(from_hex("08")), from_hex("88008FF8BA74"))
        self.assertEqual(host.slot(67), IMAGE)
        self.assertEqual(host.request(from_hex("09")), from_hex("8900"))
        self.assertEqual(host.reset.offer.crc, zlib.crc32(IMAGE))

    def test_a_device_without_patches_knows_none_of_it(self):
        host = Host(BASE, window_bits=None)
        self.assertEqual(host.request(from_hex("0101"))[3], 4)
        for request in (b"\x0d", announcement(BASE, STREAM), b"\x0f"):
            self.assertEqual(host.request(request), bytes([request[0] | 0x80, 1]))
        self.assertEqual(host.begin(IMAGE), from_hex("8602"))


class SessionTests(unittest.TestCase):
    def test_streams_drawn_at_random(self):
        for seed in range(60):
            draw = random.Random(seed)
            base = draw.randbytes(draw.choice((0, 300, 2000)))
            patch, image, _ = stream(draw, base, draw.randint(1, 5000), draw.choice((PAGE, 4 * PAGE, SLOT)))
            self.assertEqual(applied(patch, base, len(image), PAGE), image)
            host = Host(base or b"what runs")
            self.assertEqual(host.update(base, patch, image), verified(image))
            self.assertEqual(host.slot(len(image)), image)

    def test_a_lost_link_loses_nothing_and_a_reset_a_part(self):
        draw = random.Random(5)
        base = draw.randbytes(1000)
        patch, image, starts = stream(draw, base, 5 * PAGE, PAGE)
        for at in range(1, len(patch), 37):
            host = Host(base)
            host.request(announcement(base, patch))
            host.begin(image)
            host.send(patch, at)
            host.receiver.disconnected()
            host.connect()
            self.assertEqual(struct.unpack_from("<I", host.request(b"\x0f"), 10)[0], at)
            again = Host(base, Flash(host.flash.cells, PAGE, ROW))
            begun = max(start for start in starts if start <= at)
            self.assertEqual(struct.unpack_from("<I", again.request(b"\x0f"), 10)[0], begun)
            self.assertEqual(again.update(base, patch, image), verified(image))

    def test_power_that_fails_in_any_operation(self):
        draw = random.Random(9)
        base = draw.randbytes(700)
        for part_size in (PAGE, 4 * PAGE, SLOT):
            patch, image, starts = stream(draw, base, 4 * PAGE + 77, part_size)
            fails_in, ended = 0, False
            while not ended:
                fails_in += 1
                cells = bytearray([ERASED]) * (SLOT + 2 * PAGE)
                try:
                    host = Host(base, FailingFlash(cells, fails_in, draw))
                    host.update(base, patch, image)
                    ended = True
                except PowerFailure:
                    pass
                host = Host(base, Flash(cells, PAGE, ROW))
                _, _, held, made = struct.unpack_from("<IIII", host.request(b"\x0f"), 2)
                self.assertIn(held, [0, *starts, len(patch)])
                self.assertEqual(host.slot(made), image[:made])
                self.assertEqual(host.update(base, patch, image), verified(image))
                self.assertEqual(host.slot(len(image)), image)
            self.assertGreater(fails_in, 30)

    def test_one_wrong_bit_never_makes_a_wrong_image(self):
        for bit in range(8 * len(STREAM)):
            wrong = bytearray(STREAM)
            wrong[bit // 8] ^= 1 << bit % 8
            host = Host(BASE)
            if host.update(BASE, bytes(wrong), IMAGE) == verified(IMAGE):
                self.assertEqual(host.slot(67), IMAGE)
            else:
                self.assertEqual(host.statuses[-1][:2] + host.receiver.status_read()[:2], b"\0\6\0\6")

    def test_a_part_of_another_crc_is_wanted_twice(self):
        other = bytes([BASE[0] ^ 1]) + BASE[1:]
        host = Host(BASE)
        host.request(announcement(BASE, STREAM))
        host.begin(IMAGE)
        host.receiver._held._decoder.base = other  # changed after it was read
        host.receiver._held._base = other
        host.send(STREAM)
        self.assertEqual([status[1] for status in host.statuses if status[1]], [1, 6])
        self.assertEqual(host.request(b"\x0f"), from_hex("8F00") + bytes(16))

    def test_a_base_that_is_not_what_it_was(self):
        host = Host(BASE)
        host.running.image = bytes(64)
        for _ in range(2):
            self.assertEqual(host.request(announcement(BASE, STREAM)), from_hex("8E0F") + bytes(8))
        self.assertEqual(host.request(b"\x0d")[11:], bytes(9))

    def test_rewind_goes_to_the_part_or_to_the_beginning(self):
        draw = random.Random(3)
        base = draw.randbytes(900)
        patch, image, starts = stream(draw, base, 4 * PAGE, PAGE)
        for to, expected in ((starts[2] + 5, starts[2]), (starts[2], starts[2]), (starts[2] - 1, 0)):
            host = Host(base)
            host.request(announcement(base, patch))
            host.begin(image)
            host.send(patch, starts[2] + 9)
            answer = host.request(b"\x07" + struct.pack("<I", to))
            self.assertEqual(answer, b"\x87\0" + struct.pack("<II", expected, zlib.crc32(patch[:expected])))
            host.send(patch)
            self.assertEqual(host.request(b"\x08"), verified(image))

    def test_sessions_of_the_image_and_of_a_stream_are_two(self):
        host = Host(BASE)
        host.request(announcement(BASE, STREAM))
        host.begin(IMAGE)
        host.send(STREAM, 30)
        self.assertEqual(host.begin(IMAGE, 0), from_hex("8600") + bytes(8))
        self.assertEqual(host.request(b"\x0f"), from_hex("8F00") + bytes(16))
        host.send(IMAGE, 40)
        host.request(announcement(BASE, STREAM))
        self.assertEqual(host.begin(IMAGE), from_hex("8600") + bytes(8))
        self.assertEqual(host.begin(IMAGE), from_hex("8603"))


class DecoderTests(unittest.TestCase):
    """The table of docs/delta.md, 3."""

    def refused(self, patch: str) -> None:
        encoded = bytes.fromhex(patch)
        whole = struct.pack("<IIII", 0, 67, len(encoded), zlib.crc32(IMAGE)) + encoded
        with self.assertRaises((PatchRefused, PartMismatch)):
            applied(whole, BASE, 67, PAGE)

    def test_what_is_refused(self):
        for patch in (
            "10 8301 00 0083 01",
            "01 8301 5D 00 00",
            "00 8401 00 20 00",
            "00 C301 00 20 00",
            "04 8301 85 80 48",
            "00 8301 01 20 00",
            "00 8301 00 44 00",
            "00 8301 00 8401",
            "00 8301 00 8101",
            "00 8301 00 8080808010",
            "00 8301 00 808080808000",
            "00 8301 00 01 00 00 42",
            "00 8301 00 01 00 00 8001",
            "02 8301 01 FFFFFFFF07 00",
            "02 8301 02 01 00",
            "00 8301 00 01 00",
            PATCH.hex() + "00",
        ):
            self.refused(patch)

    def test_other_encodings_of_the_same_image(self):
        """No encoder writes these encodings, but detools 0.53.0 accepts each of them."""
        for head, tail in (
            ("00 8301 00 00 8301", "60"),
            ("00 8301 00 00 8301", "BFFFFFFF0F"),
            ("00 8301 00 00 8301", "40"),
            ("00 8301 40 00 8301", "00"),
            ("00 838100 00 00 8301", "00"),
            ("00 8301 00 8000 8301", "00"),
            ("00 8301 00 000000 000000 00 8301", "00"),
            ("02 8301 0000 0048 00 00 8301", "00"),
            ("02 8301 0100EE 0048 00 00 8301", "00"),
            ("02 8301 00C800 00 00 8301", "00"),
        ):
            patch = bytes.fromhex(head) + IMAGE + bytes.fromhex(tail)
            whole = struct.pack("<IIII", 0, 67, len(patch), zlib.crc32(IMAGE)) + patch
            self.assertEqual(applied(whole, BASE, 67, PAGE), IMAGE)


if __name__ == "__main__":
    unittest.main()
