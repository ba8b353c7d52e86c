"""Makes the data writes of `otaflash bench` with Bumble as a client, and measures their time for comparison.

    ota_writer.py TRANSPORT OWN_ADDRESS DEVICE BYTES MODE/MTU/CHUNK...

For each setting, sends BYTES bytes to the device's sink in chunks of CHUNK bytes, and measures the time from
the first data write to the last acknowledgement. Prints a line for each: MODE MTU BYTES_PER_SECOND.
"""

import asyncio
import struct
import sys
import time
import zlib

from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.hci import Address, OwnAddressType
from bumble.transport import open_transport

CONTROL, DATA, STATUS = (f'2f3e000{n}-21b4-4807-8bdc-74db56699529' for n in (2, 3, 4))
BEGIN, ABORT, SINK = 0x06, 0x0B, 1 << 3
HARDWARE, VERSION = 0x0000A001, (9, 0, 0)
SILENCE_LIMIT = 10


class Writer:
    """The part of the host in docs/ota-service.md that a sink session needs."""

    def __init__(self, control, data, status):
        self.control, self.data, self.status = control, data, status
        self.acknowledged = self.limit = 0
        self.news = asyncio.Event()
        self.answers = asyncio.Queue()

    async def subscribe(self):
        await self.control.subscribe(self.answers.put_nowait, prefer_notify=False)
        await self.status.subscribe(self.received)

    def received(self, status):
        _, error, window, self.acknowledged = struct.unpack_from('<BBHI', status)
        assert error == 0, f'the device reports error {error}'
        self.limit = self.acknowledged + window
        self.news.set()

    async def operate(self, opcode, payload):
        await self.control.write_value(bytes([opcode]) + payload, with_response=True)
        answer = await asyncio.wait_for(self.answers.get(), SILENCE_LIMIT)
        assert answer[:2] == bytes([opcode | 0x80, 0]), f'the device answers {answer.hex()}'

    async def send(self, image, chunk, with_response):
        """Returns the time for the complete image in seconds."""
        self.limit = 0
        await self.operate(BEGIN, struct.pack(
            '<BIIBBHI', SINK, len(image), zlib.crc32(image), *VERSION, HARDWARE))
        writes = [(offset, struct.pack('<I', offset) + image[offset:offset + chunk])
                  for offset in range(0, len(image), chunk)]
        started = time.monotonic()
        for offset, write in writes:
            while min(offset + chunk, len(image)) > self.limit:
                await self.next_news()
            await self.data.write_value(write, with_response=with_response)
        while self.acknowledged < len(image):
            await self.next_news()
        took = time.monotonic() - started
        await self.operate(ABORT, bytes(1))
        return took

    async def next_news(self):
        self.news.clear()
        await asyncio.wait_for(self.news.wait(), SILENCE_LIMIT)


async def measure(device, address, mtu, settings, image):
    """One connection for all settings with one MTU, because the MTU can be exchanged only once per
    connection."""
    connection = await device.connect(
        f'{address}/P', own_address_type=OwnAddressType.PUBLIC)
    peer = Peer(connection)
    await peer.request_mtu(mtu)
    await peer.discover_services()
    await peer.discover_characteristics()
    writer = Writer(*(
        peer.get_characteristics_by_uuid(UUID(uuid))[0] for uuid in (CONTROL, DATA, STATUS)))
    await writer.subscribe()
    for mode, chunk in settings:
        seconds = await writer.send(image, chunk, mode == 'with-response')
        print(mode, mtu, round(len(image) / seconds), flush=True)
    await connection.disconnect()
    # The device ends the link as well, and would also end a new link that was created too early.
    await asyncio.sleep(1)


async def main():
    transport_name, own_address, address, size = sys.argv[1:5]
    settings = {}
    for text in sys.argv[5:]:
        mode, mtu, chunk = text.split('/')
        settings.setdefault(int(mtu), []).append((mode, int(chunk)))
    image = bytes(n * n % 251 for n in range(int(size)))
    async with await open_transport(transport_name) as transport:
        device = Device.with_hci(
            'writer', Address(own_address, Address.PUBLIC_DEVICE_ADDRESS), transport.source,
            transport.sink)
        await device.power_on()
        for mtu, of_mtu in settings.items():
            await measure(device, address, mtu, of_mtu, image)


asyncio.run(main())
