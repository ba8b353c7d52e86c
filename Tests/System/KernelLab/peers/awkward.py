"""OTA devices that follow the specification but are difficult for a client.

    awkward.py TRANSPORT ADDRESS DIRECTORY

Each line on the standard input names one of CASES: the process becomes that device, with its own flash in
DIRECTORY/NAME, when no client is connected. One process serves all cases, because Bumble starts slowly
under emulation.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

from bumble import att, gatt, hci, utils
from bumble.core import UUID
from bumble.device import Connection, Device

from ota_device import OTADevice, arguments, boot_loader, run, say, with_device
from ota_protocol import (
    CONTROL_UUID,
    SERVICE_UUID,
)

READ = gatt.Characteristic.Properties.READ
READABLE = gatt.Characteristic.READABLE
CUSTOM_UUID = "5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b{:02x}"


def value(uuid: str | UUID, content: bytes, permissions=READABLE) -> gatt.Characteristic:
    return gatt.Characteristic(uuid, READ, permissions, content)


def battery(level: int) -> gatt.Service:
    return gatt.Service(
        gatt.GATT_BATTERY_SERVICE, [value(gatt.GATT_BATTERY_LEVEL_CHARACTERISTIC, bytes([level]))]
    )


def custom(number: int) -> gatt.Service:
    """A service with a 128-bit UUID whose characteristics have UUIDs of alternating lengths."""
    return gatt.Service(
        CUSTOM_UUID.format(number),
        [
            value(gatt.GATT_APPEARANCE_CHARACTERISTIC, b"\0\0"),
            value(CUSTOM_UUID.format(number + 1), b"one"),
            value(gatt.GATT_BATTERY_LEVEL_CHARACTERISTIC, b"\x32"),
            value(CUSTOM_UUID.format(number + 2), b"two"),
            value(CUSTOM_UUID.format(number + 3), b"three"),
        ],
    )


def information(*entries: tuple[UUID, bytes, int]) -> gatt.Service:
    return gatt.Service(
        gatt.GATT_DEVICE_INFORMATION_SERVICE,
        [value(uuid, text, right) for uuid, text, right in entries],
    )


class Crowd(OTADevice):
    """Services with UUIDs of alternating lengths, several of them with the same UUID, only the smallest
    MTU, and values that end exactly at the end of a response, of a first part or of an attribute."""

    def _services(self) -> list[gatt.Service]:
        self._server.max_mtu = att.ATT_DEFAULT_MTU
        longest = "".join(f"{number:04d} " for number in range(103))[:512].encode()
        strings = information(
            (gatt.GATT_MANUFACTURER_NAME_STRING_CHARACTERISTIC, longest, READABLE),
            (gatt.GATT_MODEL_NUMBER_STRING_CHARACTERISTIC, b"22 bytes: MTU less one", READABLE),
            (
                gatt.GATT_SERIAL_NUMBER_STRING_CHARACTERISTIC,
                b"44 bytes: two parts, nothing in a third part",
                READABLE,
            ),
            (
                gatt.GATT_FIRMWARE_REVISION_STRING_CHARACTERISTIC,
                b"secret",
                READABLE | gatt.Characteristic.READ_REQUIRES_AUTHENTICATION,
            ),
            (gatt.GATT_SOFTWARE_REVISION_STRING_CHARACTERISTIC, b"", READABLE),
        )
        return [
            strings,
            custom(0x10),
            battery(1),
            gatt.Service(SERVICE_UUID, []),
            battery(2),
            self._half(),
            self._ota_service(),
            battery(3),
            custom(0x20),
            custom(0x20),
        ]

    @staticmethod
    def _half() -> gatt.Service:
        """The service's UUID with a Control that never answers."""
        properties = gatt.Characteristic.Properties
        return gatt.Service(
            SERVICE_UUID,
            [
                gatt.Characteristic(
                    CONTROL_UUID, properties.WRITE | properties.INDICATE, gatt.Characteristic.WRITEABLE
                )
            ],
        )


class Asking(OTADevice):
    """The device is also a client: it requests the MTU and the attributes of the host, and sends PDUs
    without a request."""

    QUESTIONS = {
        "MTU": "020502",
        "information": "040100ffff",
        "by type value": "060100ffff00280018",
        "device name": "080100ffff002a",
        "read": "0a0300",
        "blob": "0c03000000",
        "services": "100100ffff0028",
        "write": "120300ff",
        "prepared write": "1603000000ff",
        "unknown": "2e0102",
    }
    # A Write Command, a signed write, an unknown command, notifications of unknown handles, and
    # several notifications in one PDU.
    REMARKS = ["520300ff", "d20300" + 13 * "00", "7f01", "1bff7f01", "1b0000", "23f07f0100aaf17f0000"]
    INDICATION = "1dff7f01"

    def _connected(self, connection: Connection) -> None:
        super()._connected(connection)
        self._answers: asyncio.Queue[att.ATT_PDU] = asyncio.Queue()
        connection.gatt_client.on_gatt_pdu = self._answers.put_nowait
        self._remark_confirmed: asyncio.Future | None = None
        self._asking = asyncio.create_task(self._ask(connection))

    def _disconnected(self) -> None:
        self._asking.cancel()
        super()._disconnected()

    async def _ask(self, connection: Connection) -> None:
        for name, question in self.QUESTIONS.items():
            self._put(connection, question)
            say(f"asked {name}:", bytes(await self._answers.get()).hex())
            for remark in self.REMARKS:
                self._put(connection, remark)
            async with self._server.indication_semaphores[connection]:
                # This is a raw PDU, because Bumble only indicates handles of its table.
                self._remark_confirmed = asyncio.get_running_loop().create_future()
                self._put(connection, self.INDICATION)
                await self._remark_confirmed
                self._remark_confirmed = None
        say("asked everything")

    def _confirmed(self, bearer: Connection, confirmation: att.ATT_Handle_Value_Confirmation) -> None:
        if self._remark_confirmed is not None:
            self._remark_confirmed.set_result(None)
        elif self._server.pending_confirmations[bearer] is not None:
            super()._confirmed(bearer, confirmation)
        else:
            say("a confirmation of nothing")

    def _put(self, connection: Connection, pdu: str) -> None:
        self._device.send_l2cap_pdu(connection.handle, att.ATT_CID, bytes.fromhex(pdu))


class Late(OTADevice):
    """Answers the first Write Request of each connection shortly before the client gives up."""

    SECONDS = 27

    def _connected(self, connection: Connection) -> None:
        super()._connected(connection)
        self._server.on_att_write_request = utils.AsyncRunner.run_in_task()(self._answer_late)

    async def _answer_late(self, connection: Connection, request: att.ATT_Write_Request) -> None:
        del self._server.on_att_write_request
        await asyncio.sleep(self.SECONDS)
        self._server.on_att_write_request(connection, request)


class Silent(OTADevice):
    """Never answers a Read By Type Request."""

    def _boot(self) -> None:
        super()._boot()
        self._server.on_att_read_by_type_request = lambda connection, request: say("said nothing")


class Flooding(OTADevice):
    """Notifies every status many times, as fast as the link accepts it."""

    TIMES = 100

    async def _notify(self, status: bytes) -> None:
        connection = self._connection
        for _ in range(self.TIMES):
            if connection is not self._connection:
                return
            await super()._notify(status)
            # Queued notifications would delay the responses of this device, and the delay is not
            # part of the test.
            await self._device.host.get_data_packet_queue(connection.handle).drain(connection.handle)


class Moving(OTADevice):
    """Has another attribute table after each reset, and indicates this after each connection that follows a
    reset."""

    _boots = 0

    def _boot(self) -> None:
        self._boots += 1
        super()._boot()

    def _services(self) -> list[gatt.Service]:
        return [battery(number) for number in range(self._boots)] + [self._ota_service()]

    def _connected(self, connection: Connection) -> None:
        super()._connected(connection)
        if self._boots > 1:
            utils.AsyncRunner.spawn(self._tell_change(connection))

    async def _tell_change(self, connection: Connection) -> None:
        changed = self._device.gatt_service.service_changed_characteristic
        indicate = self._server._indicate_single_bearer  # the public method notifies if forced
        await indicate(connection, changed, bytes.fromhex("0100ffff"), force=True)
        say("the change is confirmed")


class Indicating(OTADevice):
    """Violates the document: Status can only be indicated."""

    def _ota_service(self) -> gatt.Service:
        service = super()._ota_service()
        self._status.properties = READ | gatt.Characteristic.Properties.INDICATE
        return service


CASES = {
    case.__name__.lower(): case for case in (Crowd, Asking, Late, Silent, Flooding, Moving, Indicating)
}


async def lines() -> AsyncIterator[str]:
    """Yields the lines of the standard input."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        yield line.decode().strip()


async def end(case: OTADevice, running: asyncio.Task) -> None:
    while case.is_connected:
        await asyncio.sleep(0.05)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def main() -> None:
    options = arguments(__doc__.split("\n")[0]).parse_args()
    options.directory.mkdir(exist_ok=True)

    async def serve(device: Device, own_address_type: hci.OwnAddressType) -> None:
        now: tuple[OTADevice, asyncio.Task] | None = None
        say("ready")
        async for name in lines():
            if now is not None:
                await end(*now)
            case = CASES[name](device, boot_loader(options.directory / name), None)
            now = case, asyncio.create_task(case.run(own_address_type))
            say("case", name)

    await with_device(options, serve)


if __name__ == "__main__":
    run(main())
