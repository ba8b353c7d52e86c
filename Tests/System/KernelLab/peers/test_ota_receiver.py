"""The receiver: the test vectors of docs/ota-service.md, and a power failure at any moment."""

from __future__ import annotations

import random
import struct
import unittest
import zlib

from ota_flash import ERASED, Flash
from ota_protocol import (
    ATTError,
    Board,
    BootOutcome,
    Indication,
    Notification,
    Reset,
    Running,
)
from ota_receiver import Receiver

PAGE, ROW, SLOT = 0x400, 64, 0x4000
KEY = bytes(range(32))
IMAGE = b"123456789"
HARDWARE = 0xA001


def from_hex(text: str) -> bytes:
    return bytes.fromhex(text)


def begin(image: bytes, flags: int = 0, version=(1, 3, 0), hardware: int = HARDWARE) -> bytes:
    return b"\x06" + struct.pack("<BIIBBHI", flags, len(image), zlib.crc32(image), *version, hardware)


def noise(size: int, seed: int = 7) -> bytes:
    return random.Random(seed).randbytes(size)


class Host:
    """A direct connection to a receiver."""

    def __init__(
        self,
        flash: Flash | None = None,
        key: bytes | None = None,
        outcome=BootOutcome.NORMAL,
        subscribed: bool = True,
        buffer_size: int = 1024,
    ):
        self.flash = flash or Flash(bytearray([ERASED]) * (SLOT + 2 * PAGE), PAGE, ROW)
        self.running = Running(struct.pack("<BBH", 1, 2, 3), 1000, 0x11223344, outcome)
        board = Board(HARDWARE, SLOT, 100, buffer_size, key)
        self.receiver = Receiver(
            board, self.running, self.flash, lambda size: bytes(range(size)), lambda: None
        )
        self.statuses: list[bytes] = []
        self.reset: Reset | None = None
        self.connect(subscribed)

    def connect(self, subscribed: bool = True) -> None:
        self.receiver.connected()
        self.receiver.control_cccd(2)
        self.receiver.status_cccd(int(subscribed))

    def run(self, steps: int = 1_000_000) -> bytes | None:
        """Works until no work is left, and returns the last indication."""
        answer = None
        while steps and self.receiver.step() is not None:
            steps -= 1
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
        error = self.receiver.control_write(value)
        assert error == ATTError.NONE, error
        return self.run()

    def send(self, image: bytes, start: int = 0, end: int | None = None) -> None:
        for offset in range(start, len(image) if end is None else end, 100):
            chunk = image[offset : min(offset + 100, len(image) if end is None else end)]
            error = self.receiver.data_write(struct.pack("<I", offset) + chunk, True)
            assert error == ATTError.NONE, error
            self.run()

    def authorize(self) -> None:
        self.request(b"\x04")
        assert self.request(from_hex("05B84A17FEBF504C51A96FD8E950573189")) == b"\x85\x00"


class VectorTests(unittest.TestCase):
    """The vectors of section 11, in their order."""

    def test_vectors(self):
        host = Host(key=KEY)
        request, receiver = host.request, host.receiver
        self.assertEqual(request(from_hex("0101")), from_hex("8100010501A000000040000000040000 64000004"))
        self.assertEqual(request(from_hex("0100")), from_hex("810A0101"))
        self.assertEqual(request(from_hex("02")), from_hex("820001020300E803000044332211 0000"))
        self.assertEqual(request(from_hex("03")), from_hex("8300") + bytes(16))
        self.assertEqual(request(from_hex("04")), from_hex("8400000102030405060708090A0B0C0D0E0F"))
        self.assertEqual(request(b"\x05" + bytes(16)), from_hex("850B"))
        host.authorize()
        self.assertEqual(request(begin(IMAGE)), from_hex("8600") + bytes(8))
        self.assertEqual(begin(IMAGE), from_hex("0600090000002639F4CB0103000001A00000"))
        self.assertEqual(host.statuses[-1], from_hex("01000004") + bytes(12))
        self.assertEqual(receiver.data_write(from_hex("0000000031323334"), False), 0)
        self.assertEqual(receiver.status_read(), from_hex("0100FC0304000000A3E0E39B00000000"))
        self.assertEqual(request(from_hex("03")), from_hex("8300090000002639F4CB04000000A3E0E39B"))
        self.assertEqual(receiver.data_write(from_hex("0500000036373839"), True), ATTError.GAP)
        host.run()
        self.assertEqual(host.statuses[-1], from_hex("0101FC0304000000A3E0E39B00000000"))
        self.assertEqual(request(from_hex("0704000000")), from_hex("8700") + bytes(8))
        host.send(IMAGE)
        self.assertEqual(request(from_hex("08")), from_hex("88002639F4CB"))
        self.assertEqual(request(from_hex("0A")), from_hex("8A0E"))
        self.assertEqual(request(from_hex("09")), from_hex("8900"))
        self.assertEqual(host.reset.offer.crc, zlib.crc32(IMAGE))

    def test_an_aborted_session_is_gone_when_discarded(self):
        host = Host()
        host.request(begin(IMAGE))
        self.assertEqual(host.request(from_hex("0B01")), from_hex("8B00"))
        self.assertEqual(host.request(from_hex("03")), from_hex("8300") + bytes(16))
        self.assertEqual(host.request(from_hex("0C")), from_hex("8C01"))


class RuleTests(unittest.TestCase):
    def test_five_wrong_proofs_lock(self):
        host = Host(key=KEY)
        for _ in range(5):
            host.request(b"\x04")
            self.assertEqual(host.request(b"\x05" + bytes(16)), from_hex("850B"))
        self.assertEqual(host.request(b"\x04"), from_hex("840C"))
        self.assertEqual(host.request(b"\x05" + bytes(16)), from_hex("850C"))
        host.receiver.disconnected()
        host.connect()
        self.assertEqual(host.request(b"\x04"), from_hex("840C"))

    def test_a_wrong_proof_uses_up_its_challenge_and_closes_nothing(self):
        host = Host(key=KEY)
        host.authorize()
        host.request(b"\x04")
        self.assertEqual(host.request(b"\x05" + bytes(16)), from_hex("850B"))
        self.assertEqual(host.request(b"\x05" + bytes(16)), from_hex("8503"))
        self.assertEqual(host.request(from_hex("0101"))[3], 7)
        self.assertEqual(host.request(begin(IMAGE))[:2], from_hex("8600"))

    def test_authorization_dies_with_the_connection(self):
        host = Host(key=KEY)
        host.authorize()
        self.assertEqual(host.request(from_hex("0101"))[3], 7)
        host.receiver.disconnected()
        host.connect()
        self.assertEqual(host.request(begin(IMAGE)), from_hex("8604"))
        self.assertEqual(host.receiver.data_write(bytes(5), False), ATTError.NOT_AUTHORIZED)

    def test_refusals_of_begin_in_their_order(self):
        host = Host()
        old = (1, 2, 2)
        self.assertEqual(host.request(begin(bytes(SLOT + 1), version=old, hardware=1)), from_hex("8606"))
        self.assertEqual(host.request(begin(IMAGE, version=old, hardware=1)), from_hex("8605"))
        self.assertEqual(host.request(begin(IMAGE, 4, version=old, hardware=1)), from_hex("8607"))
        self.assertEqual(host.request(begin(IMAGE, 6, version=old, hardware=1))[:2], from_hex("8600"))
        self.assertEqual(host.request(begin(IMAGE, 16)), from_hex("8602"))

    def test_requests_that_att_refuses(self):
        host = Host()
        self.assertEqual(host.receiver.control_write(b""), ATTError.INVALID_LENGTH)
        self.assertEqual(host.receiver.control_write(b"\x02"), ATTError.NONE)
        self.assertEqual(host.receiver.control_write(b"\x02"), ATTError.BUSY)
        host.receiver.disconnected()
        host.receiver.connected()
        self.assertEqual(host.receiver.control_write(b"\x02"), ATTError.CCCD_IMPROPER)

    def test_data_is_judged_in_order(self):
        host = Host()
        write = host.receiver.data_write
        self.assertEqual(write(bytes(4), False), ATTError.INVALID_LENGTH)
        self.assertEqual(write(bytes(105), False), ATTError.INVALID_LENGTH)
        self.assertEqual(write(bytes(5), False), ATTError.NO_SESSION)
        image = noise(2000)
        host.request(begin(image))
        self.assertEqual(write(struct.pack("<I", 2000) + bytes(1), False), ATTError.GAP)
        for offset in range(0, 1000, 100):  # no step runs in between, so the buffer fills
            self.assertEqual(write(struct.pack("<I", offset) + image[offset : offset + 100], True), 0)
        self.assertEqual(write(struct.pack("<I", 1000) + bytes(25), False), ATTError.BUSY)
        host.run()
        host.send(image, 1000, 1950)
        self.assertEqual(write(struct.pack("<I", 1950) + bytes(51), False), ATTError.INVALID_LENGTH)

    def test_a_gap_is_told_once(self):
        host = Host()
        host.request(begin(noise(2000)))
        reported = len(host.statuses)
        for _ in range(3):
            host.receiver.data_write(struct.pack("<I", 500) + bytes(9), True)
        host.receiver.data_write(struct.pack("<I", 500) + bytes(9), False)
        host.run()
        self.assertEqual([status[1] for status in host.statuses[reported:]], [1])

    def test_a_sink_leaves_what_is_held(self):
        host = Host()
        image, other = noise(3000), noise(5000, 8)
        host.request(begin(image))
        host.send(image, 0, 1500)
        cells = bytes(host.flash.cells)
        self.assertEqual(host.request(begin(other, 8)), from_hex("8600") + bytes(8))
        host.send(other)
        self.assertEqual(host.request(b"\x08"), from_hex("8800") + struct.pack("<I", zlib.crc32(other)))
        self.assertEqual(host.request(b"\x09"), from_hex("8903"))
        self.assertEqual(host.request(b"\x0b\x00"), from_hex("8B00"))
        self.assertEqual(bytes(host.flash.cells), cells)
        self.assertEqual(
            host.request(begin(image)),
            from_hex("8600") + struct.pack("<II", 1500, zlib.crc32(image[:1500])),
        )

    def test_a_wrong_crc_discards_the_session(self):
        host = Host()
        image = noise(3000)
        wrong = image[:-1] + b"\x00"
        host.request(begin(image))
        host.send(wrong)
        self.assertEqual(host.request(b"\x08"), from_hex("8808") + struct.pack("<I", zlib.crc32(wrong)))
        self.assertEqual(host.request(from_hex("03")), from_hex("8300") + bytes(16))
        self.assertEqual(host.statuses[-1][0], 0)

    def test_a_disconnection_stops_verify(self):
        host = Host()
        image = noise(8000)
        host.request(begin(image))
        host.send(image)
        host.receiver.control_write(b"\x08")
        host.receiver.step()
        self.assertEqual(host.receiver.status_read()[0], 2)
        host.receiver.disconnected()
        self.assertEqual(host.receiver.status_read()[0], 1)
        host.connect()
        self.assertEqual(host.request(b"\x03")[10:14], struct.pack("<I", 8000))
        self.assertEqual(host.request(b"\x08")[:2], from_hex("8800"))

    def test_activation_does_not_need_the_connection(self):
        host = Host()
        host.request(begin(IMAGE))
        host.send(IMAGE)
        host.request(b"\x08")
        host.receiver.control_write(b"\x09")
        host.receiver.step()
        host.receiver.disconnected()
        host.run()
        self.assertEqual(host.reset.offer.size, len(IMAGE))

    def test_begin_confirms_an_image_on_trial(self):
        for flags, answer in ((8, b"\x8a\x00"), (0, b"\x8a\x0e")):
            host = Host()
            host.running.trial = True
            self.assertEqual(host.request(begin(noise(3000), flags))[:2], b"\x86\x00")
            self.assertEqual(host.request(b"\x0a"), answer)

    def test_nothing_is_held_after_a_revert(self):
        host = Host()
        image = noise(5000)
        host.request(begin(image))
        host.send(image, 0, 3000)
        host = Host(host.flash, outcome=BootOutcome.REVERTED)
        self.assertEqual(host.request(b"\x03"), from_hex("8300") + bytes(16))


class WindowTests(unittest.TestCase):
    def test_a_host_that_waits_for_a_whole_chunk_is_never_left_waiting(self):
        """The sizes of row and chunk do not divide each other, and the buffer has the minimum size."""
        for buffer_size in (192, 256, 1024):
            host = Host(buffer_size=buffer_size)
            image = noise(8000)
            host.request(begin(image))
            limit = offset = 0
            while offset < len(image):
                state, error, window, following, _, _ = struct.unpack("<BBHIII", host.statuses[-1])
                limit = following + window
                size = min(100, len(image) - offset)
                self.assertLessEqual(offset + size, limit, f"stuck at {offset} with {buffer_size}")
                while offset < len(image) and offset + size <= limit:
                    chunk = struct.pack("<I", offset) + image[offset : offset + size]
                    self.assertEqual(host.receiver.data_write(chunk, True), ATTError.NONE)
                    offset += size
                    size = min(100, len(image) - offset)
                host.run()
            self.assertEqual(host.request(b"\x08")[:2], from_hex("8800"))


class PowerLoss(Exception):
    pass


class FragileFlash(Flash):
    """Loses power within one operation, or corrupts some operations."""

    def __init__(self, cells, page_size, row_size, cut: int | None = None, bad=lambda operation: False):
        super().__init__(cells, page_size, row_size)
        self.operations = 0
        self._cut = cut
        self._bad = bad
        self._random = random.Random(cut)

    def _damage(self, offset: int, wanted: bytes) -> None:
        """Sets each byte to its new, its old, or another value."""
        for index, new_byte in enumerate(wanted):
            position = offset + index
            choice = self._random.randrange(3)
            self.cells[position] = (new_byte, self.cells[position], self._random.randrange(256))[choice]

    def _operate(self, offset: int, wanted: bytes) -> None:
        number, self.operations = self.operations, self.operations + 1
        if number == self._cut:
            self._damage(offset, wanted)
            raise PowerLoss
        self.cells[offset : offset + len(wanted)] = wanted
        if self._bad(number):
            self.cells[offset] ^= 0x10

    def _erase_cells(self, offset: int) -> None:
        self._operate(offset, bytes([ERASED]) * self.page_size)

    def _program_cells(self, offset: int, row: bytes) -> None:
        self._operate(offset, row)


class PowerLossTests(unittest.TestCase):
    """Counts the flash operations of an undisturbed run, cuts the power at each, reboots and continues."""

    IMAGE = noise(13 * 1024 + 77)

    def update(self, host: Host) -> None:
        """Sends most of another image, rewinds, and then sends the complete image."""
        other = noise(6000, 9)
        host.request(begin(other))
        host.send(other)
        host.request(b"\x07" + struct.pack("<I", 2500))
        host.send(other, 2048, 4000)
        self.flash_image(host)

    def flash_image(self, host: Host) -> None:
        answer = host.request(begin(self.IMAGE))
        offset, crc = struct.unpack("<II", answer[2:])
        self.assertEqual(crc, zlib.crc32(self.IMAGE[:offset]))
        host.send(self.IMAGE, offset)
        self.assertEqual(host.request(b"\x08")[:2], from_hex("8800"))

    def fragile(self, cells: bytearray, cut: int | None = None) -> FragileFlash:
        return FragileFlash(cells, PAGE, ROW, cut)

    def test_a_cut_at_every_operation(self):
        size = SLOT + 2 * PAGE
        flash = self.fragile(bytearray([ERASED]) * size)
        self.update(Host(flash))
        total = flash.operations
        self.assertGreater(total, 300)
        resumed = 0
        for cut in range(total):
            with self.subTest(cut=cut):
                cells = bytearray([ERASED]) * size
                with self.assertRaises(PowerLoss):
                    self.update(Host(self.fragile(cells, cut)))
                host = Host(self.fragile(cells))
                image_size, crc, offset, prefix = struct.unpack("<IIII", host.request(b"\x03")[2:])
                for image in (self.IMAGE, noise(6000, 9)):
                    if (image_size, crc) == (len(image), zlib.crc32(image)):
                        self.assertEqual(prefix, zlib.crc32(image[:offset]))
                        resumed += offset > 0
                self.flash_image(host)
                slot = bytes(cells[2 * PAGE : 2 * PAGE + len(self.IMAGE)])
                self.assertEqual(slot, self.IMAGE)
        self.assertGreater(resumed, total // 2)

    def test_a_second_cut_while_it_goes_on(self):
        """The first cut leaves a record of a previous run; the second hits the record that follows it."""
        size = SLOT + 2 * PAGE
        for second in range(60):
            with self.subTest(second=second):
                cells = bytearray([ERASED]) * size
                with self.assertRaises(PowerLoss):
                    self.update(Host(self.fragile(cells, 250)))
                with self.assertRaises(PowerLoss):
                    self.flash_image(Host(self.fragile(cells, second)))
                self.flash_image(Host(self.fragile(cells)))


class FaultTests(unittest.TestCase):
    def host(self, bad) -> Host:
        flash = FragileFlash(bytearray([ERASED]) * (SLOT + 2 * PAGE), PAGE, ROW, bad=bad)
        return Host(flash)

    def test_a_row_that_does_not_hold_sends_the_session_back_to_its_page(self):
        # Two operations for the record; an erase, sixteen rows and a mark for page 0; an erase, and
        # the third row.
        host = self.host(lambda operation: operation == 23)
        image = noise(3000)
        host.request(begin(image))
        host.send(image, 0, 1300)
        gaps = [status for status in host.statuses if status[1] == 1]
        self.assertEqual(len(gaps), 1)
        self.assertEqual(struct.unpack_from("<I", gaps[0], 4), (1024,))
        host.send(image, 1024)
        self.assertEqual(host.request(b"\x08")[:2], from_hex("8800"))

    def test_a_page_that_never_holds_ends_the_session(self):
        host = self.host(lambda operation: operation >= 23)
        image = noise(3000)
        host.request(begin(image))
        host.send(image, 0, 1300)
        for _ in range(2):
            self.assertEqual(host.statuses[-1][:2], from_hex("0101"))
            host.send(image, 1024, 1124)
        self.assertEqual(host.statuses[-1][:2], from_hex("0003"))
        self.assertEqual(host.receiver.status_read()[:2], from_hex("0003"))
        held = struct.unpack("<IIII", host.request(b"\x03")[2:])
        self.assertEqual(held, (3000, zlib.crc32(image), 1024, zlib.crc32(image[:1024])))

    def test_a_record_that_cannot_be_written_refuses_begin(self):
        host = self.host(lambda operation: True)
        self.assertEqual(host.request(begin(IMAGE)), from_hex("8609"))


if __name__ == "__main__":
    unittest.main()
