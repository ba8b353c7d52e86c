"""A device of the OTA service at a Unix socket, honest or hostile, in its own thread.

The rules are in Tests/System/KernelLab/peers, which was written only from docs/ota-service.md.
"""

from __future__ import annotations

import os
import random
import select
import socket
import struct
import threading
import time
from pathlib import Path

from att_server import CONTROL, INDICATION, NOTIFICATION, STATUS, ATTServer
from hostility import Close, Hostility
from ota_boot import BootLoader
from ota_flash import Flash, Timing
from ota_protocol import Board, Indication, Notification, Reset
from ota_receiver import Receiver
from ota_record import Offer

HARDWARE = 0x0000_A001
PAGE, ROW, SLOT = 4096, 256, 64 * 1024
CHUNK, BUFFER = 508, 8192
RECORD_PAGES = 2
SEND_LIMIT = 5.0
LOOK_SECONDS = 0.1


class SoakDevice(threading.Thread):
    """Serves one connection after the other at `path` until it is stopped.

    `directory` stores its flash and its images; several objects may use it one after the other.
    """

    def __init__(
        self,
        path: str,
        directory: Path,
        seed: int,
        hostility: Hostility | None = None,
        key: bytes | None = None,
    ):
        super().__init__(daemon=True)
        self._hostility = hostility
        self._board = Board(HARDWARE, SLOT, CHUNK, BUFFER, key)
        self._loader = BootLoader(directory, RECORD_PAGES * PAGE + SLOT, RECORD_PAGES * PAGE)
        self._entropy = random.Random(seed ^ 0x5EED).randbytes
        self._activated: Offer | None = None
        self._stopping = threading.Event()
        self.error: BaseException | None = None
        self._boot()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(path)
        self._listener.listen()
        self._path = path

    def stop(self) -> None:
        self._stopping.set()
        self.join()
        self._listener.close()
        os.unlink(self._path)
        if self.error is not None:
            raise self.error

    @property
    def running(self) -> tuple[int, int]:
        """The size and CRC32 of the running image."""
        return self._receiver.running.size, self._receiver.running.crc

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                if not select.select([self._listener], [], [], LOOK_SECONDS)[0]:
                    continue
                peer, _ = self._listener.accept()
                with peer:
                    self._serve(peer)
        except BaseException as error:
            self.error = error

    def _boot(self) -> None:
        flash = Flash(self._loader.cells, PAGE, ROW, Timing(0, 0, 0))
        self._receiver = Receiver(
            self._board, self._loader.boot(), flash, self._entropy, self._loader.confirm
        )

    def _serve(self, peer: socket.socket) -> None:
        self._server = ATTServer(self)
        self._peer = peer
        peer.settimeout(SEND_LIMIT)
        self._receiver.connected()
        try:
            while not self._stopping.is_set():
                if not select.select([peer], [], [], LOOK_SECONDS)[0]:
                    continue
                request = peer.recv(1024)
                if not request:
                    break
                response = self._server.received(request)
                if response is not None:
                    self._send(response, request)
                self._work()
        except (Close, OSError):
            pass
        self._receiver.disconnected()
        self._work_on_flash()
        self._reset_if_due()

    def _send(self, pdu: bytes, request: bytes = b"") -> None:
        if self._hostility is None:
            self._peer.send(pdu)
            return
        for out in self._hostility.outgoing(pdu, request):
            self._peer.send(out)
        if self._hostility.pause:
            time.sleep(self._hostility.pause)
            self._hostility.pause = 0.0

    def _work_on_flash(self) -> None:
        while self._receiver.step() is not None:
            pass

    def _work(self) -> None:
        self._work_on_flash()
        outbox = self._receiver.outbox
        while outbox:
            match outbox.popleft():
                case Notification(value):
                    self._send(struct.pack("<BH", NOTIFICATION, STATUS) + value)
                case Indication(value, _):
                    self._send(struct.pack("<BH", INDICATION, CONTROL) + value)
                case Reset(offer):
                    self._activated = offer
                    raise Close

    def _reset_if_due(self) -> None:
        for output in self._receiver.outbox:
            if isinstance(output, Reset):
                self._activated = output.offer
        if self._activated is not None:
            self._loader.activate(self._activated)
            self._activated = None
            self._boot()

    # The ATT server calls the following methods.

    def control_write(self, value: bytes) -> int:
        return self._receiver.control_write(value)

    def data_write(self, value: bytes, command: bool) -> int:
        return self._receiver.data_write(value, command)

    def status_read(self) -> bytes:
        return self._receiver.status_read()

    def control_cccd(self, value: int) -> None:
        self._receiver.control_cccd(value)

    def status_cccd(self, value: int) -> None:
        self._receiver.status_cccd(value)

    def confirmed(self) -> None:
        self._receiver.indication_ended()
