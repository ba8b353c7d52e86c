"""A device with MCUboot at a Unix socket. Its ATT code is in this file, its SMP rules are those of
smp_rules.py.

usage: smp_device.py SOCKET IMAGE [LOST...]

IMAGE runs at first. The upload requests with the numbers LOST (from 1) are lost. Serves one host after the
other until it is killed; prints the running image to standard output at each start.
"""

import os
import socket
import struct
import sys
from uuid import UUID

import smp_rules

SERVICE = UUID(smp_rules.SERVICE).bytes[::-1]
CHARACTERISTIC = UUID(smp_rules.CHARACTERISTIC).bytes[::-1]
VALUE, CONFIGURATION = 3, 4
MTU = 498


class Connection:
    """The ATT server of one host, with only the required procedures."""

    def __init__(self, link: socket.socket, board: smp_rules.Board) -> None:
        self.link = link
        self.board = board
        self.conversation = smp_rules.Conversation(board)
        self.mtu = 23

    def serve(self) -> None:
        while not self.board.resets:
            pdu = self.link.recv(1024)
            if not pdu:
                return
            if pdu[0] == 0x52:
                message = self.conversation.written(pdu[3:])
                if message is not None:
                    self.notify(message)
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

    def notify(self, message: bytes) -> None:
        size = self.mtu - 3
        for start in range(0, len(message), size):
            self.link.send(struct.pack("<BH", 0x1B, VALUE) + message[start : start + size])


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path = sys.argv[1]
    with open(sys.argv[2], "rb") as file:
        board = smp_rules.Board(file.read(), {int(number) for number in sys.argv[3:]})
    if os.path.exists(path):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen(1)
        print("runs", board.running.version, flush=True)
        while True:
            link, _ = listener.accept()
            with link:
                try:
                    Connection(link, board).serve()
                except (ConnectionError, BrokenPipeError):
                    pass
            if board.resets:
                board.boot()
                print("runs", board.running.version, flush=True)


main()
