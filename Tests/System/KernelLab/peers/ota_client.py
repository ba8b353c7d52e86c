"""A host of the OTA service on Bumble's GATT client, written only from docs/ota-service.md. It uses
procedures that otaflash never uses: Prepare Write, Read Multiple, a delayed confirmation.

    ota_client.py TRANSPORT ADDRESS

Ends with 0 if a device passes all procedures and runs a new image in the end.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import struct
import zlib
from dataclasses import dataclass

from bumble import att, gatt, hci
from bumble.core import UUID
from bumble.device import Connection, Device, Peer
from bumble.transport import open_transport

from ota_device import run, say
from ota_protocol import (
    CONTROL_UUID,
    DATA_UUID,
    SERVICE_UUID,
    STATUS_UUID,
    ATTError,
    Opcode,
    Result,
    State,
)
from unix_air import UnixAir

OWN_ADDRESS = "F0:00:00:00:00:03"
NAME = b"otaflash board"
MTU = 100
ANSWER_SECONDS = 20
RETURNS = 3
LINK_SECONDS = 0.5
VERSION = bytes([7, 1, 0, 0])
SINK = 8


def expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise SystemExit(f"FAILED {what}: {found!r}, not {wanted!r}")
    say("ok", what)


@dataclass(frozen=True)
class Status:
    state: int
    error: int
    window: int
    following: int
    crc: int
    durable: int

    @classmethod
    def decode(cls, value: bytes) -> Status:
        return cls(*struct.unpack("<BBHIII", value))


class Host:
    """One connection to a device, discovered and subscribed."""

    def __init__(self, connection: Connection):
        self.connection = connection
        self.client = connection.gatt_client
        self._answers: asyncio.Queue[bytes] = asyncio.Queue()
        self.statuses: asyncio.Queue[Status] = asyncio.Queue()

    async def discover(self) -> list[str]:
        """Finds the characteristics; returns the UUIDs of all services in the order of the services."""
        peer = Peer(self.connection)
        services = await peer.discover_services()
        for service in services:
            await peer.discover_characteristics(service=service)
        (ota,) = peer.get_services_by_uuid(UUID(SERVICE_UUID))
        self.control, self.data, self.status = (
            ota.get_required_characteristic_by_uuid(UUID(uuid))
            for uuid in (CONTROL_UUID, DATA_UUID, STATUS_UUID)
        )
        (self.name,) = peer.get_characteristics_by_uuid(gatt.GATT_DEVICE_NAME_CHARACTERISTIC)
        return [service.uuid.to_hex_str().lower() for service in services]

    async def subscribe(self) -> None:
        await self.client.subscribe(self.control, self._answers.put_nowait)
        await self.client.subscribe(
            self.status, lambda value: self.statuses.put_nowait(Status.decode(value))
        )

    async def request(self, pdu: att.ATT_PDU) -> bytes | int:
        """Returns the raw response, or the code of the error."""
        response = await self.client.send_request(pdu)
        return response.error_code if isinstance(response, att.ATT_Error_Response) else bytes(response)

    async def write(self, characteristic, value: bytes) -> int:
        answer = await self.request(att.ATT_Write_Request(characteristic.handle, value))
        return answer if isinstance(answer, int) else 0

    async def answer(self) -> bytes:
        return await asyncio.wait_for(self._answers.get(), ANSWER_SECONDS)

    async def operate(self, opcode: Opcode, payload: bytes = b"") -> bytes:
        """Returns the payload of the answer to a request that must succeed."""
        expect(f"{opcode.name} is accepted", await self.write(self.control, bytes([opcode]) + payload), 0)
        answer = await self.answer()
        expect(f"{opcode.name} is done", answer[:2], bytes([opcode | 0x80, Result.DONE]))
        return answer[2:]

    async def read_status(self) -> Status:
        return Status.decode(await self.client.read_value(self.status))

    async def begin(self, image: bytes, hardware: int, flags: int) -> int:
        payload = struct.pack("<BII", flags, len(image), zlib.crc32(image)) + VERSION
        answer = await self.operate(Opcode.BEGIN, payload + struct.pack("<I", hardware))
        return struct.unpack("<II", answer)[0]

    async def send(self, image: bytes, start: int) -> None:
        """Sends Write Commands within the window, until the device has the complete image."""
        size = self.connection.att_mtu - 3 - 4
        sent, status = start, await self.read_status()
        while status.following < len(image):
            limit = min(status.following + status.window, len(image))
            while sent < limit:
                chunk = image[sent : min(sent + size, limit)]
                await self.client.write_value(self.data, struct.pack("<I", sent) + chunk)
                sent += len(chunk)
            try:
                status = await asyncio.wait_for(self.statuses.get(), 1)
            except asyncio.TimeoutError:
                status = await self.read_status()
            if status.error or sent < status.following:
                sent = status.following

    async def verify(self, image: bytes) -> None:
        answer = await self.operate(Opcode.VERIFY)
        expect("the image is read back", answer, struct.pack("<I", zlib.crc32(image)))


async def small_mtu(host: Host) -> None:
    """Procedures at the smallest MTU, before an MTU exchange."""
    handle = host.name.handle
    blob = att.ATT_Read_Blob_Request
    expect("a read", await host.client.read_value(host.name), NAME)
    expect("a blob in the middle", await host.request(blob(handle, 9)), b"\x0d" + NAME[9:])
    expect("a blob at the end", await host.request(blob(handle, len(NAME))), b"\x0d")
    expect(
        "a blob beyond the end",
        await host.request(blob(handle, len(NAME) + 1)),
        att.ErrorCode.INVALID_OFFSET,
    )
    several = att.ATT_Read_Multiple_Request([handle, host.status.handle])
    expect(
        "several values in one, cut at the MTU",
        await host.request(several),
        (b"\x0f" + NAME + bytes(16))[:23],
    )
    nothing = att.ATT_Read_Request(0xFFF0)
    expect("an unknown handle", await host.request(nothing), att.ErrorCode.INVALID_HANDLE)
    expect(
        "Control cannot be read",
        await host.request(att.ATT_Read_Request(host.control.handle)),
        att.ErrorCode.READ_NOT_PERMITTED,
    )
    expect(
        "Control without its CCCD", await host.write(host.control, b"\x01\x01"), ATTError.CCCD_IMPROPER
    )


async def unconfirmed(host: Host) -> None:
    """An operation has ended when its indication is confirmed, not before."""
    confirm, host.client.send_confirmation = host.client.send_confirmation, lambda _: None
    expect("RUNNING is accepted", await host.write(host.control, bytes([Opcode.RUNNING])), 0)
    await host.answer()
    expect(
        "busy until it is confirmed",
        await host.write(host.control, bytes([Opcode.RUNNING])),
        ATTError.BUSY,
    )
    host.client.send_confirmation = confirm
    confirm(att.ATT_Handle_Value_Confirmation())
    await host.operate(Opcode.RUNNING)


async def prepare(host: Host, value: bytes, start: int = 0) -> None:
    """Queues a value in parts of the size that the MTU permits; the device echoes each part."""
    size = host.connection.att_mtu - 5
    for offset in range(start, start + len(value), size):
        part = value[offset - start : offset - start + size]
        request = att.ATT_Prepare_Write_Request(host.data.handle, offset, part)
        expect(f"part at {offset} is echoed", await host.request(request), b"\x17" + bytes(request)[1:])


async def prepared_writes(host: Host, image: bytes) -> None:
    """Data written in parts counts as one write, at the time when it is executed."""
    execute = att.ATT_Execute_Write_Request
    data = struct.pack("<I", 0) + image[:100]
    await prepare(host, data)
    expect("nothing is written yet", (await host.read_status()).following, 0)
    expect("cancelled", await host.request(execute(0)), b"\x19")
    expect("nothing was written", (await host.read_status()).following, 0)
    expect("an empty queue is executed", await host.request(execute(1)), b"\x19")
    await prepare(host, data)
    expect("executed", await host.request(execute(1)), b"\x19")
    status = await host.read_status()
    expect("written as one", (status.following, status.crc), (100, zlib.crc32(image[:100])))
    await prepare(host, data)
    expect("the refusal of the device is passed on", await host.request(execute(1)), ATTError.GAP)
    await prepare(host, image[:10], start=5)
    expect("a part after a gap", await host.request(execute(1)), att.ErrorCode.INVALID_OFFSET)
    expect("neither was written", (await host.read_status()).following, 100)


async def connect(device: Device, address: hci.Address, own: hci.OwnAddressType) -> Host:
    return Host(await device.connect(address, own_address_type=own))


async def update(device: Device, address: hci.Address, own: hci.OwnAddressType) -> None:
    host = await connect(device, address, own)
    services = await host.discover()
    expect("the services", services, ["1800", "180a", SERVICE_UUID.replace("-", "")])
    await small_mtu(host)
    await host.subscribe()
    info = struct.unpack("<BBIIIHH", await host.operate(Opcode.INFO, b"\x01"))
    await unconfirmed(host)

    content = random.Random(5).randbytes(9000)
    await host.begin(content[:1000], info[2], SINK)
    await prepared_writes(host, content[:1000])
    expect("the smaller MTU holds", await host.client.request_mtu(MTU), MTU)
    await host.send(content[:1000], 100)
    await host.verify(content[:1000])
    await host.operate(Opcode.ABORT, b"\0")

    start = await host.begin(content, info[2], 0)
    await host.send(content, start)
    await host.verify(content)
    expect("verified", (await host.read_status()).state, State.VERIFIED)
    gone = asyncio.get_running_loop().create_future()
    host.connection.on(host.connection.EVENT_DISCONNECTION, gone.set_result)
    await host.operate(Opcode.ACTIVATE)
    await asyncio.wait_for(gone, ANSWER_SECONDS)
    say("ok the device resets")

    host = await connect(device, address, own)
    await host.discover()
    await host.subscribe()
    wanted = VERSION + struct.pack("<II", len(content), zlib.crc32(content))
    running = await host.operate(Opcode.RUNNING)
    expect("the new image runs, activated", running[:13], wanted + b"\x01")
    if running[13]:
        await host.operate(Opcode.CONFIRM)
        running = await host.operate(Opcode.RUNNING)
    expect("permanently", running[13], 0)
    await come_back(host, device, address, own)


async def come_back(
    host: Host, device: Device, address: hci.Address, own: hci.OwnAddressType
) -> None:
    """Ends the link and creates the next link immediately; the device must not end the next link by
    mistake."""
    for _ in range(RETURNS):
        await host.connection.disconnect()
        host = await connect(device, address, own)
        await host.discover()
        await asyncio.sleep(LINK_SECONDS)
        expect("connected again immediately", await host.client.read_value(host.name), NAME)
    await host.connection.disconnect()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("transport", help="a Bumble transport, or unix:PATH")
    parser.add_argument("address", nargs="?", help="the device's public address")
    options = parser.parse_args()
    if options.transport.startswith("unix:"):
        air = UnixAir(options.transport.removeprefix("unix:"))
        device = air.device("client", OWN_ADDRESS)
        await device.power_on()
        reached = asyncio.create_task(air.reach())
        await update(device, hci.Address(air.STAND_IN_ADDRESS), hci.OwnAddressType.RANDOM)
        reached.cancel()
        return
    async with await open_transport(options.transport) as transport:
        device = Device.with_hci("client", hci.Address(OWN_ADDRESS), transport.source, transport.sink)
        await device.power_on()
        say("ready")
        address = hci.Address(options.address, hci.Address.PUBLIC_DEVICE_ADDRESS)
        await update(device, address, hci.OwnAddressType.PUBLIC)


if __name__ == "__main__":
    run(main())
