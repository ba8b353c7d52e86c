"""A device with MCUboot: SMP by PyPI's `smp` (Tests/System/SMPOracle/smp_rules.py) on Bumble's GATT server.

    smp_server.py TRANSPORT ADDRESS DIRECTORY [--authenticated] [--encrypted] [--asks] [--forgetful]
                  [--new-address]

TRANSPORT is a Bumble transport (hci-socket:1) or unix:PATH. DIRECTORY/image is the MCUboot image that
runs, at first and after each reset. Prints "advertising" whenever a host can connect, and "runs
VERSION" at each start. With --authenticated it serves only hosts with an authenticated key, and prints the
passkey of a pairing. --encrypted serves only encrypted links, --asks sends a Security Request
after each connection, --forgetful loses its keys at each restart, and --new-address uses another static
random address at each start.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from bumble import att, gatt, gatt_server, hci, utils
from bumble.core import AdvertisingData
from bumble.device import Connection, Device
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from ota_device import REBOOT_SECONDS, arguments, run, say, with_device

sys.path.append(str(Path(__file__).resolve().parents[2] / "SMPOracle"))
import smp_rules  # noqa: E402

NAME = b"bumble-smp"


class Display(PairingDelegate):
    """Displays a passkey, and has no input."""

    def __init__(self):
        super().__init__(PairingDelegate.DISPLAY_OUTPUT_ONLY)

    async def display_number(self, number: int, digits: int) -> None:
        say("passkey", f"{number:0{digits}}")


class SMPServer:
    def __init__(self, device: Device, options: argparse.Namespace):
        self._device = device
        self._image = options.directory / "image"
        self._board = smp_rules.Board(self._image.read_bytes())
        self._is_guarded = options.authenticated
        self._is_encrypted = options.encrypted
        self._asks = options.asks
        self._is_forgetful = options.forgetful
        self._draws_addresses = options.new_address
        self._connection: Connection | None = None
        self._responses: asyncio.Queue[tuple[Connection, bytes]] = asyncio.Queue()
        device.keystore = MemoryKeyStore()
        delegate = Display() if self._is_guarded else PairingDelegate()
        device.pairing_config_factory = lambda _: PairingConfig(mitm=self._is_guarded, delegate=delegate)

    async def run(self, own_address_type: hci.OwnAddressType) -> None:
        """Advertises and answers until it is cancelled."""
        self._own_address_type = own_address_type
        self._device.on(self._device.EVENT_CONNECTION, self._connected)
        self._start()
        await self._draw_address()
        await self._advertise()
        while True:
            connection, response = await self._responses.get()
            await self._notify(connection, response)
            if self._board.resets:
                await self._reset()

    def _start(self) -> None:
        self._server = self._device.gatt_server = gatt_server.Server(self._device)
        self._device.add_default_services()
        self._smp = self._characteristic()
        self._server.add_service(gatt.Service(smp_rules.SERVICE, [self._smp]))
        self._image.write_bytes(self._board.running.data)
        say("runs", self._board.running.version)

    async def _draw_address(self) -> None:
        if not self._draws_addresses:
            return
        address = hci.Address.generate_static_address()
        await self._device.send_command(hci.HCI_LE_Set_Random_Address_Command(random_address=address))
        self._device.random_address = address
        self._own_address_type = hci.OwnAddressType.RANDOM
        say("address", address.to_string(False))

    async def _advertise(self) -> None:
        service = bytes(gatt.UUID(smp_rules.SERVICE))
        await self._device.start_advertising(
            own_address_type=self._own_address_type,
            advertising_data=bytes(
                AdvertisingData(
                    [
                        (AdvertisingData.FLAGS, bytes([0x06])),
                        (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, service),
                    ]
                )
            ),
            scan_response_data=bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, NAME)])),
        )
        say("advertising")

    # The service

    def _characteristic(self) -> gatt.Characteristic:
        properties = gatt.Characteristic.Properties
        characteristic = gatt.Characteristic(
            smp_rules.CHARACTERISTIC,
            properties.WRITE_WITHOUT_RESPONSE | properties.NOTIFY,
            gatt.Characteristic.WRITEABLE,
            gatt.CharacteristicValue(write=self._written),
        )

        async def configure(bearer: Connection, value: bytes) -> None:
            await self._judge(bearer)
            self._server.write_cccd(bearer, characteristic, value)

        characteristic.descriptors = (
            gatt.Descriptor(
                gatt.GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR,
                gatt.Descriptor.READABLE | gatt.Descriptor.WRITEABLE,
                att.AttributeValueV2(
                    lambda bearer: self._server.read_cccd(bearer, characteristic), configure
                ),
            ),
        )
        return characteristic

    async def _judge(self, connection: Connection) -> None:
        """Raises an ATT error if the link is less secure than the options require. Bumble treats every encrypted
        link as authenticated, so the key shows whether the link is authenticated."""
        if self._is_encrypted and not connection.is_encrypted:
            raise att.ATT_Error(att.ATT_INSUFFICIENT_ENCRYPTION_ERROR)
        if not self._is_guarded:
            return
        keys = await self._device.keystore.get(str(connection.peer_address))
        if not connection.is_encrypted or keys is None or not keys.ltk.authenticated:
            raise att.ATT_Error(att.ATT_INSUFFICIENT_AUTHENTICATION_ERROR)

    async def _written(self, connection: Connection, part: bytes) -> None:
        await self._judge(connection)
        response = self._conversation.written(part)
        if response is not None:
            self._responses.put_nowait((connection, response))

    async def _notify(self, connection: Connection, response: bytes) -> None:
        size = connection.att_mtu - 3
        for start in range(0, len(response), size):
            if connection is not self._connection:
                return
            part = response[start : start + size]
            await self._server.notify_subscriber(connection, self._smp, part)

    # The link

    def _connected(self, connection: Connection) -> None:
        say("connected")
        self._connection = connection
        self._conversation = smp_rules.Conversation(self._board)
        connection.on(connection.EVENT_DISCONNECTION, lambda _: self._disconnected())
        if self._asks:
            connection.request_pairing()

    def _disconnected(self) -> None:
        say("disconnected")
        self._connection = None
        if not self._board.resets:
            utils.AsyncRunner.spawn(self._advertise())

    async def _reset(self) -> None:
        # The last answer is still being sent.
        await asyncio.sleep(REBOOT_SECONDS)
        say("reset")
        if self._connection is not None:
            await self._connection.disconnect()
        await asyncio.sleep(REBOOT_SECONDS)
        self._board.boot()
        if self._is_forgetful:
            self._device.keystore = MemoryKeyStore()
        self._start()
        await self._draw_address()
        await self._advertise()


async def main() -> None:
    parser = arguments("A device with MCUboot and SMP on Bumble.")
    parser.add_argument("--authenticated", action="store_true", help="serves only paired hosts")
    parser.add_argument("--encrypted", action="store_true", help="serves only encrypted links")
    parser.add_argument("--asks", action="store_true", help="requests a pairing after each connection")
    parser.add_argument("--forgetful", action="store_true", help="loses its keys at each restart")
    parser.add_argument("--new-address", action="store_true", help="uses a new address at each start")
    options = parser.parse_args()
    await with_device(options, lambda device, address: SMPServer(device, options).run(address))


if __name__ == "__main__":
    run(main())
