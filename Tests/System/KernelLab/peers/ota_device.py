"""The OTA service on Bumble's GATT server, written only from docs/ota-service.md.

    ota_device.py TRANSPORT ADDRESS DIRECTORY [--key-file FILE]

TRANSPORT is a Bumble transport (hci-socket:1) or unix:PATH; DIRECTORY stores flash and images.
Prints "advertising" whenever a host can connect.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import struct
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path

from bumble import att, gatt, gatt_server, hci, utils
from bumble.core import AdvertisingData
from bumble.device import Connection, Device
from bumble.transport import open_transport

from ota_boot import BootLoader
from ota_flash import Flash
from ota_protocol import (
    CONTROL_UUID,
    DATA_UUID,
    SERVICE_UUID,
    STATUS_UUID,
    Board,
    Indication,
    Notification,
    Reset,
)
from ota_receiver import Receiver
from unix_air import UnixAir

NAME = "bumble-ota"
HARDWARE = 0x0000_A001
PAGE, ROW, SLOT = 4096, 256, 256 * 1024
CHUNK, BUFFER = 508, 8192
RECORD_PAGES = 2
REBOOT_SECONDS = 0.3


def say(*words: object) -> None:
    print(*words, flush=True)


def refuse(error: int) -> None:
    if error:
        raise att.ATT_Error(error)


def not_permitted(_: Connection) -> bytes:
    raise att.ATT_Error(att.ATT_READ_NOT_PERMITTED_ERROR)


def write_not_permitted(_: Connection, __: bytes) -> None:
    raise att.ATT_Error(att.ATT_WRITE_NOT_PERMITTED_ERROR)


class OTADevice:
    def __init__(self, device: Device, loader: BootLoader, key: bytes | None):
        self._device = device
        self._loader = loader
        self._board = Board(HARDWARE, SLOT, CHUNK, BUFFER, key)
        self._connection: Connection | None = None
        self._input = asyncio.Event()  # there may be work for the flash
        self._output = asyncio.Event()  # there may be something to send
        self._confirmation: asyncio.Task | None = None
        self._return: asyncio.Task | None = None  # after a link the device advertises again

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    async def run(self, own_address_type: hci.OwnAddressType) -> None:
        """Advertises, works and answers until it is cancelled."""
        self._own_address_type = own_address_type
        self._boot()
        self._device.on(self._device.EVENT_CONNECTION, self._connected)
        try:
            await self._advertise()
            await asyncio.gather(self._work_on_flash(), self._send())
        finally:
            self._device.remove_listener(self._device.EVENT_CONNECTION, self._connected)
            # Otherwise the next user of the controller would start and stop the same advertising.
            if self._return is not None:
                await self._return

    def _boot(self) -> None:
        flash = Flash(self._loader.cells, PAGE, ROW)
        running = self._loader.boot()
        self._receiver = Receiver(self._board, running, flash, os.urandom, self._loader.confirm)
        self._server = self._device.gatt_server = gatt_server.Server(self._device)
        self._device.add_default_services()
        self._server.add_services(self._services())
        # Bumble calls the same method for a Write Request and for a Write Command, but the service
        # must distinguish them.
        self._server.on_att_write_command = utils.AsyncRunner.run_in_task()(self._data_commanded)
        # Bumble wakes a task after a confirmation, and a request that follows directly would be
        # handled first.
        self._take_confirmation = self._server.on_att_handle_value_confirmation
        self._server.on_att_handle_value_confirmation = self._confirmed

    async def _advertise(self) -> None:
        service = AdvertisingData(
            [
                (AdvertisingData.FLAGS, bytes([0x06])),
                (
                    AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                    bytes(gatt.UUID(SERVICE_UUID)),
                ),
            ]
        )
        name = AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())])
        await self._device.start_advertising(
            own_address_type=self._own_address_type,
            advertising_data=bytes(service),
            scan_response_data=bytes(name),
        )
        say("advertising")

    # The service

    def _services(self) -> list[gatt.Service]:
        """The services after the default services, in the order of the table."""
        return [self._ota_service()]

    def _ota_service(self) -> gatt.Service:
        properties = gatt.Characteristic.Properties
        self._control = self._characteristic(
            CONTROL_UUID,
            properties.WRITE | properties.INDICATE,
            write=self._control_written,
            cccd=(0x0002, lambda value: self._receiver.control_cccd(value)),
        )
        self._data = self._characteristic(
            DATA_UUID,
            properties.WRITE | properties.WRITE_WITHOUT_RESPONSE,
            write=self._data_requested,
        )
        self._status = self._characteristic(
            STATUS_UUID,
            properties.READ | properties.NOTIFY,
            read=lambda _: self._receiver.status_read(),
            cccd=(0x0001, lambda value: self._receiver.status_cccd(value)),
        )
        return gatt.Service(SERVICE_UUID, [self._control, self._data, self._status])

    def _characteristic(
        self, uuid, properties, read=not_permitted, write=write_not_permitted, cccd=None
    ):
        characteristic = gatt.Characteristic(
            uuid,
            properties,
            gatt.Characteristic.READABLE | gatt.Characteristic.WRITEABLE,
            gatt.CharacteristicValue(read=read, write=write),
        )
        if cccd is not None:
            characteristic.descriptors = (self._cccd(characteristic, *cccd),)
        return characteristic

    def _cccd(self, characteristic, permitted, report) -> gatt.Descriptor:
        def write(bearer: Connection, value: bytes) -> None:
            if len(value) != 2:
                refuse(att.ATT_INVALID_ATTRIBUTE_LENGTH_ERROR)
            bits = struct.unpack("<H", value)[0]
            if bits not in (0, permitted):
                refuse(att.ErrorCode.VALUE_NOT_ALLOWED)
            self._server.write_cccd(bearer, characteristic, value)
            report(bits)

        return gatt.Descriptor(
            gatt.GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR,
            gatt.Descriptor.READABLE | gatt.Descriptor.WRITEABLE,
            att.AttributeValueV2(lambda bearer: self._server.read_cccd(bearer, characteristic), write),
        )

    def _control_written(self, _: Connection, value: bytes) -> None:
        error = self._receiver.control_write(value)
        self._input.set()
        refuse(error)

    def _data_requested(self, _: Connection, value: bytes) -> None:
        error = self._receiver.data_write(value, command=False)
        self._something_happened()
        refuse(error)

    async def _data_commanded(self, _: Connection, command: att.ATT_Write_Command) -> None:
        if command.attribute_handle == self._data.handle:
            self._receiver.data_write(command.attribute_value, command=True)
            self._something_happened()

    # The link

    def _connected(self, connection: Connection) -> None:
        say("connected")
        self._connection = connection
        connection.on(connection.EVENT_DISCONNECTION, lambda _: self._disconnected())
        self._receiver.connected()

    def _disconnected(self) -> None:
        say("disconnected")
        self._connection = None
        if self._confirmation is not None:
            self._confirmation.cancel()
        self._receiver.disconnected()
        self._something_happened()
        if not any(isinstance(output, Reset) for output in self._receiver.outbox):
            self._return = asyncio.create_task(self._advertise())

    def _something_happened(self) -> None:
        self._input.set()
        self._output.set()

    async def _work_on_flash(self) -> None:
        while True:
            seconds = self._receiver.step()
            self._output.set()
            if seconds is None:
                await self._input.wait()
                self._input.clear()
            else:
                await asyncio.sleep(seconds)

    async def _send(self) -> None:
        while True:
            await self._output.wait()
            self._output.clear()
            while self._receiver.outbox:
                match self._receiver.outbox.popleft():
                    case Notification(value):
                        await self._notify(value)
                    case Indication(value, limit):
                        self._confirmation = asyncio.create_task(self._indicate(value, limit))
                    case Reset(offer):
                        await self._reset(offer)

    async def _notify(self, value: bytes) -> None:
        await self._server.notify_subscriber(self._connection, self._status, value)

    async def _indicate(self, value: bytes, limit: float) -> None:
        try:
            indication = self._server.indicate_subscriber(self._connection, self._control, value)
            await asyncio.wait_for(indication, limit)
        except asyncio.TimeoutError:
            say("an indication was not confirmed")
            self._receiver.indication_ended()
            self._something_happened()

    def _confirmed(self, bearer: Connection, confirmation: att.ATT_Handle_Value_Confirmation) -> None:
        self._take_confirmation(bearer, confirmation)
        self._receiver.indication_ended()
        self._something_happened()

    async def _reset(self, offer) -> None:
        say("reset")
        self._loader.activate(offer)
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.remove_all_listeners(connection.EVENT_DISCONNECTION)
            await connection.disconnect()
        await asyncio.sleep(REBOOT_SECONDS)
        self._boot()
        self._input.set()
        await self._advertise()


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("transport", help="a Bumble transport, or unix:PATH")
    parser.add_argument("address", help="the device's address")
    parser.add_argument("directory", type=Path, help="stores its flash and its images")
    return parser


def boot_loader(directory: Path) -> BootLoader:
    return BootLoader(directory, RECORD_PAGES * PAGE + SLOT, RECORD_PAGES * PAGE)


async def with_device(
    options: argparse.Namespace, body: Callable[[Device, hci.OwnAddressType], Awaitable[None]]
) -> None:
    """Runs `body` with a Bumble device on the transport of the command line."""
    if options.transport.startswith("unix:"):
        air = UnixAir(options.transport.removeprefix("unix:"))
        device = air.device(NAME, options.address)
        await device.power_on()
        await asyncio.gather(body(device, hci.OwnAddressType.RANDOM), air.serve(device))
        return
    async with await open_transport(options.transport) as transport:
        device = Device.with_hci(NAME, hci.Address(options.address), transport.source, transport.sink)
        await device.power_on()
        await body(device, hci.OwnAddressType.PUBLIC)


def run(main: Coroutine[None, None, None]) -> None:
    logging.basicConfig(level=os.environ.get("BUMBLE_LOGLEVEL", "WARNING"))
    asyncio.run(main)


async def main() -> None:
    parser = arguments("An OTA device on Bumble.")
    parser.add_argument("--key-file", type=Path, help="requires authorization with this key")
    options = parser.parse_args()
    key = options.key_file.read_bytes() if options.key_file else None
    loader = boot_loader(options.directory)
    await with_device(options, lambda device, address: OTADevice(device, loader, key).run(address))


if __name__ == "__main__":
    run(main())
