"""Hostile hosts for a simulated device: connections that break the rules of hosts, drawn from a seed."""

from __future__ import annotations

import random
import select
import socket
import struct
import time

STEPS_MAXIMUM = 60
ANSWER_LIMIT = 0.2


def visit(path: str, seed: int) -> None:
    """Opens one connection, which ends after a random number of steps, or earlier if the device ends it."""
    draw = random.Random(seed)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
        peer.settimeout(1)
        try:
            peer.connect(path)
            style = draw.choice((_polite, _polite, _random, _deaf, _hasty))
            for _ in range(draw.randrange(STEPS_MAXIMUM)):
                style(peer, draw)
        except OSError:
            pass  # the device may end the link, or may currently accept no link


def _receive(peer: socket.socket) -> None:
    if select.select([peer], [], [], ANSWER_LIMIT)[0] and not peer.recv(1024):
        raise ConnectionError


def _request(draw: random.Random) -> bytes:
    handle = draw.randrange(1, 24)
    value = draw.randbytes(draw.choice((0, 1, 2, 17, 18, 100, 512)))
    control = bytes([draw.randrange(1, 14)]) + draw.randbytes(draw.choice((0, 1, 4, 16, 17)))
    return draw.choice(
        (
            struct.pack("<BH", 2, draw.choice((0, 23, 247, 517, 65535))),
            struct.pack("<BHHH", 8, 1, 0xFFFF, 0x2803),
            struct.pack("<BHHH", 0x10, draw.randrange(3), 0xFFFF, 0x2800),
            struct.pack("<BHH", 4, handle, 0xFFFF),
            struct.pack("<BH", 0x0A, handle),
            struct.pack("<BHH", 0x12, handle, draw.randrange(3)),
            struct.pack("<BH", 0x12, handle) + control,
            struct.pack("<BH", 0x12, handle) + value,
            struct.pack("<BH", 0x52, handle) + value,
            struct.pack("<BHH", 0x16, handle, draw.randrange(600)) + value,
            struct.pack("<BB", 0x18, draw.randrange(3)),
            b"\x1e",
        )
    )


def _polite(peer: socket.socket, draw: random.Random) -> None:
    peer.send(_request(draw))
    _receive(peer)


def _random(peer: socket.socket, draw: random.Random) -> None:
    peer.send(draw.randbytes(draw.choice((1, 2, 3, 7, 20, 512, 672))))
    _receive(peer)


def _hasty(peer: socket.socket, draw: random.Random) -> None:
    """Sends requests without waiting for their answers."""
    peer.send(_request(draw))


def _deaf(peer: socket.socket, draw: random.Random) -> None:
    peer.send(_request(draw))
    if draw.random() < 0.02:
        time.sleep(0.3)
