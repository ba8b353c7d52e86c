#!/usr/bin/env python3
"""Sends an image to the sink of a device with Bumble's GATT client, and prints the CPU time.

usage: bumble_host.py SOCKET MEGABYTES client|host|long-packets

client:       the client writes its PDUs directly to the socket.
host:         the PDUs pass through Bumble's host, virtual controllers and link to a second host,
              which writes them to the socket. These components replace a kernel.
long-packets: like host, with controllers that accept packets of 251 bytes; Bumble's default is 27.
Prints "BYTES CPU-SECONDS", from the first data write to the Status that acknowledges all bytes.
"""
import asyncio
import socket
import struct
import sys
import time
import zlib

from bumble import att, hci
from bumble.controller import Controller
from bumble.device import Connection, Device, DeviceConfiguration
from bumble.gatt_client import Client
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink
from bumble.utils import EventEmitter

SERVICE, CONTROL, DATA, STATUS = (f"2f3e000{n}-21b4-4807-8bdc-74db56699529" for n in (1, 2, 3, 4))
ATT_MTU = 498
CHUNK = ATT_MTU - 3 - 4
LONG_PACKET = 251
BEGIN, ABORT = 6, 11
SINK_AND_DOWNGRADE = 0x0A
DONE = 0
ANSWER_LIMIT = 20.0


class SocketBearer(EventEmitter):
    """A connection over the socket, with the members that a client needs."""

    EVENT_DISCONNECTION = Connection.EVENT_DISCONNECTION
    handle = 1
    att_mtu = att.ATT_DEFAULT_MTU

    def __init__(self, device: socket.socket):
        super().__init__()
        self.device = device

    def send_l2cap_pdu(self, _cid: int, pdu: bytes) -> None:
        self.device.send(pdu)

    def on_att_mtu_update(self, mtu: int) -> None:
        self.att_mtu = mtu


def client_alone(device: socket.socket) -> Client:
    client = Client(SocketBearer(device))
    asyncio.get_running_loop().add_reader(
        device.fileno(), lambda: client.on_gatt_pdu(att.ATT_PDU.from_bytes(device.recv(1024)))
    )
    return client


def virtual_device(name: str, address: str, link: LocalLink, stack: str) -> Device:
    controller = Controller(name, link=link, public_address=address)
    if stack == "long-packets":
        controller.le_acl_data_packet_length = LONG_PACKET
    host = Host(controller, AsyncPipeSink(controller))
    return Device(config=DeviceConfiguration(name=name, address=hci.Address(address)), host=host)


async def client_of_host(device: socket.socket, stack: str) -> Client:
    link = LocalLink()
    bridge = virtual_device("bridge", "F0:00:00:00:00:01", link, stack)
    central = virtual_device("central", "F0:00:00:00:00:02", link, stack)
    accepted = asyncio.get_running_loop().create_future()
    bridge.once("connection", accepted.set_result)
    await bridge.power_on()
    await central.power_on()
    await bridge.start_advertising()
    connection = await central.connect(bridge.random_address)
    handle = (await accepted).handle
    bridge.l2cap_channel_manager.register_fixed_channel(
        att.ATT_CID, lambda _handle, pdu: device.send(pdu)
    )
    asyncio.get_running_loop().add_reader(
        device.fileno(),
        lambda: bridge.send_l2cap_pdu(handle, att.ATT_CID, device.recv(1024)),
    )
    return connection.gatt_client


class Update:
    """The part of the OTA service's host side that a sink session needs (docs/ota-service.md)."""

    def __init__(self, client: Client):
        self.client = client
        self.answers: asyncio.Queue[bytes] = asyncio.Queue()
        self.moved = asyncio.Event()
        self.next = self.limit = self.crc32 = 0

    async def open(self) -> None:
        await self.client.request_mtu(ATT_MTU)
        (service,) = await self.client.discover_service(SERVICE)
        await service.discover_characteristics()
        named = {str(item.uuid).lower(): item for item in service.characteristics}
        self.control, self.data, self.status = (named[name] for name in (CONTROL, DATA, STATUS))
        await self.client.subscribe(self.control, self.answers.put_nowait)
        await self.client.subscribe(self.status, self.on_status)

    def on_status(self, value: bytes) -> None:
        _state, error, window, self.next, self.crc32, _durable = struct.unpack("<BBHIII", value)
        if error:
            raise SystemExit(f"the device reports error {error} at {self.next}")
        self.limit = self.next + window
        self.moved.set()

    async def perform(self, opcode: int, payload: bytes) -> None:
        await self.client.write_value(self.control, bytes([opcode]) + payload, with_response=True)
        answer = await asyncio.wait_for(self.answers.get(), ANSWER_LIMIT)
        if answer[:2] != bytes([opcode | 0x80, DONE]):
            raise SystemExit(f"operation {opcode} was answered with {answer.hex()}")

    async def send(self, image: bytes) -> float:
        """Returns the CPU time of the data transfer."""
        begin = struct.pack(
            "<BIIBBHI", SINK_AND_DOWNGRADE, len(image), zlib.crc32(image), 255, 255, 65535, 0xA001
        )
        await self.perform(BEGIN, begin)
        started = time.process_time()
        sent = 0
        while self.next < len(image):
            size = min(CHUNK, len(image) - sent)
            if size == 0 or sent + size > self.limit:
                self.moved.clear()
                await asyncio.wait_for(self.moved.wait(), ANSWER_LIMIT)
                continue
            value = struct.pack("<I", sent) + image[sent : sent + size]
            await self.client.write_value(self.data, value)
            sent += size
        took = time.process_time() - started
        if self.crc32 != zlib.crc32(image):
            raise SystemExit("the device received other bytes")
        await self.perform(ABORT, b"\0")
        return took


async def main(path: str, megabytes: int, stack: str) -> None:
    device = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    device.connect(path)
    client = client_alone(device) if stack == "client" else await client_of_host(device, stack)
    update = Update(client)
    await update.open()
    image = bytes((i * 2654435761 & 0xFFFFFFFF) >> 24 for i in range(megabytes * 1000 * 1000))
    print(len(image), await update.send(image))


if len(sys.argv) != 4 or sys.argv[3] not in ("client", "host", "long-packets"):
    sys.exit(__doc__)
asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
