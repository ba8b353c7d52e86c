"""Compares two devices that implement one document: the receiver in C in `otaflash simulate`, and the
receiver in Python.

    compare_receivers.py OTAFLASH [SEEDS] [FIRST SEED]

Both receive the same random requests, data and connections, valid and invalid ones, and must behave the same:
ATT errors, answers, states, reported errors, offsets and checksums. Window and durable offset are not
compared.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import random
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from ota_flash import ERASED, Flash, Timing
from ota_protocol import (
    PROOF_LABEL,
    CONTROL_UUID,
    DATA_UUID,
    STATUS_UUID,
    BeginFlags,
    Board,
    Indication,
    Notification,
    Result,
    Running,
    State,
)
from ota_receiver import Receiver
from patch_maker import announcement, stream

STEPS = 150
KEY = bytes(range(32))
ROW = 256
LIMIT_SECONDS = 20
Said = list[tuple]


def status_fields(status: bytes) -> tuple:
    state, error, _, following, crc, _ = struct.unpack("<BBHIII", status)
    return state, error, following, crc


class Model:
    """The receiver in Python, called directly."""

    def __init__(self, board: Board, running: Running, page_size: int):
        flash = Flash(
            bytearray([ERASED]) * (board.slot_size + 2 * page_size), page_size, ROW, Timing(0, 0, 0)
        )
        self._receiver = Receiver(board, running, flash, os.urandom, lambda: None)
        self.connect()

    def connect(self) -> None:
        self._receiver.connected()
        self._receiver.control_cccd(2)
        self._receiver.status_cccd(1)

    def disconnect(self) -> None:
        self._receiver.disconnected()
        self._rest()

    def control(self, request: bytes) -> Said:
        error = self._receiver.control_write(request)
        return [("refused", int(error))] if error else self._rest()

    def data(self, value: bytes, command: bool) -> Said:
        error = self._receiver.data_write(value, command)
        said = self._rest()
        return [("refused", int(error))] + said if error and not command else said

    def status(self) -> bytes:
        return self._receiver.status_read()

    def _rest(self) -> Said:
        said: Said = []
        while self._receiver.step() is not None:
            pass
        while self._receiver.outbox:
            match self._receiver.outbox.popleft():
                case Notification(value) if value[1]:
                    said.append(("reported", *status_fields(value)))
                case Indication(value, _):
                    said.append(("answered", value))
                    self._receiver.indication_ended()
        return said


class Simulated:
    """A device at a Unix socket, with raw ATT PDUs."""

    MTU = 517

    def __init__(self, path: str):
        self._path = path
        self.connect()

    def connect(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        deadline = time.monotonic() + LIMIT_SECONDS
        while self._socket.connect_ex(self._path):
            assert time.monotonic() < deadline, "no process listens"
            time.sleep(0.02)
        self._said: Said = []
        self._exchange(struct.pack("<BH", 2, self.MTU))
        self._find()
        for cccd, value in ((self._control + 1, 2), (self._status + 1, 1)):
            assert self._exchange(struct.pack("<BHH", 0x12, cccd, value)) == b"\x13"
        self._said.clear()

    def disconnect(self) -> None:
        self._socket.close()

    def control(self, request: bytes) -> Said:
        response = self._exchange(struct.pack("<BH", 0x12, self._control) + request)
        if response[0] == 1:
            return [("refused", response[4])]
        while not any(said[0] == "answered" for said in self._said):
            self._take(self._receive())
        return self._settled()

    def data(self, value: bytes, command: bool) -> Said:
        if command:
            self._socket.send(struct.pack("<BH", 0x52, self._data) + value)
            return self._settled()
        response = self._exchange(struct.pack("<BH", 0x12, self._data) + value)
        refused = [("refused", response[4])] if response[0] == 1 else []
        return refused + self._settled()

    def status(self) -> bytes:
        return self._exchange(struct.pack("<BH", 0x0A, self._status))[1:]

    def _settled(self) -> Said:
        """Returns the output since the last call, once it is complete; a notification precedes the
        answer."""
        self.status()
        self.status()
        said, self._said = self._said, []
        return said

    def _exchange(self, request: bytes) -> bytes:
        self._socket.send(request)
        while (pdu := self._receive())[0] in (0x1B, 0x1D):
            self._take(pdu)
        return pdu

    def _receive(self) -> bytes:
        ready, _, _ = select.select([self._socket], [], [], LIMIT_SECONDS)
        assert ready, "the device sends nothing"
        return self._socket.recv(1024)

    def _take(self, pdu: bytes) -> None:
        if pdu[0] == 0x1D:
            self._socket.send(b"\x1e")
            self._said.append(("answered", pdu[3:]))
        elif pdu[4]:
            self._said.append(("reported", *status_fields(pdu[3:])))

    def _find(self) -> None:
        handles, start = {}, 1
        while (response := self._exchange(struct.pack("<BHHH", 8, start, 0xFFFF, 0x2803)))[0] == 9:
            for entry in range(2, len(response), response[1]):
                declaration = response[entry : entry + response[1]]
                start, _, value = struct.unpack_from("<HBH", declaration)
                handles[declaration[5:][::-1].hex()] = value
                start += 1
        self._control, self._data, self._status = (
            handles[uuid.replace("-", "")] for uuid in (CONTROL_UUID, DATA_UUID, STATUS_UUID)
        )


class Comparison:
    """The steps of one seed, each of which is performed with both devices."""

    def __init__(self, seed: int, simulated: Simulated, flash: Path):
        self._random = random.Random(seed)
        self._simulated = simulated
        info = simulated.control(b"\x01\x01")[0][1]
        running = simulated.control(b"\x02")[0][1]
        _, _, hardware, slot, page, chunk, buffer = struct.unpack("<BBIIIHH", info[2:])
        size, crc = struct.unpack_from("<II", running, 6)
        self._hardware, self._chunk, self._page = hardware, chunk, page
        bits = simulated.control(b"\x0d")[0][1][5:7]
        # The running image is in the first slot.
        base = flash.read_bytes()[:size]
        assert zlib.crc32(base) == crc
        self._model = Model(
            Board(hardware, slot, chunk, buffer, KEY, *bits),
            Running(running[2:6], size, crc, image=base),
            page,
        )
        self._images = [
            self._random.randbytes(self._random.choice((1, 700, page, 3 * page + 5))) for _ in range(3)
        ]
        self._image = self._sent = self._images[0]
        self._streams = [self._drawn_stream(base) for _ in range(4)]

    def run(self) -> None:
        steps = (
            (self._begin, 2),
            (self._announce, 2),
            (self._data_in_order, 14),
            (self._data_anywhere, 5),
            (self._rewind, 2),
            (self._verify, 2),
            (self._other_request, 3),
            (self._authorize, 2),
            (self._nonsense, 2),
            (self._abort, 1),
            (self._reconnect, 1),
        )
        actions, weights = zip(*steps)
        for _ in range(STEPS):
            receiving = status_fields(self._model.status())[0] == State.RECEIVING
            if not receiving and self._random.random() < 0.5:
                if self._random.random() < 0.5:
                    self._authorize()
                self._begin_stream() if self._random.random() < 0.5 else self._begin_well()
            else:
                self._random.choices(actions, weights)[0]()
            mine, theirs = status_fields(self._model.status()), status_fields(self._simulated.status())
            assert mine == theirs, f"status: {mine} and {theirs}"

    def _both(self, what: str, act) -> None:
        mine, theirs = act(self._model), act(self._simulated)
        # The order of a notification and an indication that have the same cause is not specified.
        assert sorted(mine) == sorted(theirs), f"{what}: {mine} and {theirs}"

    def _control(self, request: bytes) -> None:
        self._both(request.hex(), lambda device: device.control(request))

    def _drawn_stream(self, base: bytes) -> tuple[bytes, bytes, bytes]:
        """Returns a base, a stream, and the image; occasionally the stream has a wrong bit."""
        base = self._random.choice((base, base, b""))
        size = self._random.choice((1, 900, self._page, 2 * self._page + 77))
        parts = self._random.choice((self._page, 4 * self._page))
        content, image, _ = stream(self._random, base, size, parts)
        if self._random.random() < 0.4:
            place = self._random.randrange(len(content))
            content = content[:place] + bytes([content[place] ^ 1 << self._random.randrange(8)]) + content[place + 1 :]
        return base, content, image

    def _announce(self) -> None:
        base, content, _ = self._random.choice(self._streams)
        request = bytearray(announcement(base, content))
        if self._random.random() < 0.3:
            request[self._random.randrange(1, len(request))] ^= self._random.randrange(256)
        self._control(bytes(request))

    def _begin_stream(self) -> None:
        base, self._sent, self._image = self._random.choice(self._streams)
        self._control(announcement(base, self._sent))
        self._control(b"\x0f")
        flags = BeginFlags.PATCH | self._random.choice((0, 0, BeginFlags.RESTART))
        fields = struct.pack("<BII", flags, len(self._image), zlib.crc32(self._image))
        self._control(b"\x06" + fields + struct.pack("<BBHI", 9, 9, 9, self._hardware))

    def _begin_well(self) -> None:
        self._image = self._sent = self._random.choice(self._images)
        fields = struct.pack(
            "<BII",
            self._random.choice((0, 0, BeginFlags.SINK)),
            len(self._image),
            zlib.crc32(self._image),
        )
        self._control(b"\x06" + fields + struct.pack("<BBHI", 9, 9, 9, self._hardware))

    def _begin(self) -> None:
        self._image = self._sent = self._random.choice(self._images)
        flags = self._random.choice(
            (0, 0, 0, 0, *BeginFlags, BeginFlags.SINK, BeginFlags.SINK | 1, 0x20, 0x18, 0x0F)
        )
        crc = zlib.crc32(self._image) ^ (self._random.random() < 0.1)
        version = struct.pack("<BBH", self._random.choice((0, 9, 9, 9)), 9, 9)
        hardware = self._hardware + (self._random.random() < 0.1)
        size = self._random.choice((len(self._image),) * 9 + (0, 1 << 30))
        self._control(
            b"\x06" + struct.pack("<BII", flags, size, crc) + version + struct.pack("<I", hardware)
        )

    def _data_in_order(self) -> None:
        start = status_fields(self._model.status())[2]
        size = self._random.choice((1, self._chunk, self._random.randint(1, self._chunk)))
        self._write(start, self._sent[start : start + size] or b"x")

    def _data_anywhere(self) -> None:
        following = status_fields(self._model.status())[2]
        start = self._random.choice(
            (0, max(following - 1, 0), following, following + 1, len(self._sent), 1 << 31)
        )
        self._write(
            start, self._random.randbytes(self._random.choice((0, 1, 50, self._chunk, self._chunk + 1)))
        )

    def _write(self, start: int, content: bytes) -> None:
        value, command = struct.pack("<I", start) + content, self._random.random() < 0.5
        self._both(f"data of {len(content)} at {start}", lambda device: device.data(value, command))

    def _rewind(self) -> None:
        offset = self._random.choice((0, self._page, self._random.randrange(4 * self._page)))
        self._control(b"\x07" + struct.pack("<I", offset))

    def _verify(self) -> None:
        self._control(b"\x08")

    def _other_request(self) -> None:
        # CHALLENGE is excluded because its answer is random, and ACTIVATE because it restarts the
        # process.
        self._control(
            self._random.choice(
                (
                    b"\x01\x01",
                    b"\x01\x00",
                    b"\x02",
                    b"\x03",
                    b"\x05" + bytes(16),
                    b"\x0a",
                    b"\x0d",
                    b"\x0f",
                )
            )
        )

    def _authorize(self) -> None:
        """Sends a proof, which is usually correct; each device checks it against its own challenge."""
        right = self._random.random() < 0.7

        def prove(device: Model | Simulated) -> Said:
            challenge = device.control(b"\x04")[0][1]
            if challenge[1] != Result.DONE:
                return [("answered", challenge)]
            message = PROOF_LABEL + challenge[2:] + struct.pack("<I", self._hardware)
            proof = hmac.new(KEY if right else b"wrong", message, hashlib.sha256).digest()[:16]
            return device.control(b"\x05" + proof)

        self._both("a proof that is " + ("right" if right else "wrong"), prove)
        self._control(b"\x01\x01")

    def _nonsense(self) -> None:
        self._control(self._random.randbytes(self._random.choice((0, 1, 2, 5, 17, 18))))

    def _abort(self) -> None:
        self._control(b"\x0b" + bytes([self._random.choice((0, 0, 1, 2))]))

    def _reconnect(self) -> None:
        for device in (self._model, self._simulated):
            device.disconnect()
            device.connect()


def compare(otaflash: str, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "device")
        process = subprocess.Popen(
            [
                otaflash,
                "simulate",
                "--profile",
                f"fast?key={KEY.hex()}",
                "--listen",
                path,
                "--flash-file",
                path + ".flash",
            ],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "XDG_STATE_HOME": folder, "XDG_RUNTIME_DIR": folder},
        )
        try:
            Comparison(seed, Simulated(path), Path(path + ".flash")).run()
        finally:
            process.kill()
            process.wait()


def main() -> None:
    otaflash, seeds, first = (sys.argv[1:] + ["20", "1"][len(sys.argv) - 2 :])[:3]
    for seed in range(int(first), int(first) + int(seeds)):
        try:
            compare(otaflash, seed)
        except AssertionError as difference:
            sys.exit(f"seed {seed}: {difference}")
    print(f"{seeds} seeds of {STEPS} steps, no difference")


if __name__ == "__main__":
    main()
