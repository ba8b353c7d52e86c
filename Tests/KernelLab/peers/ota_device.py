"""A Bluetooth LE peripheral on Google's Bumble that offers the otaflash OTA service.

Usage: ota_device.py TRANSPORT ADDRESS FOLDER [NAME]; TRANSPORT such as hci-socket:1.
Prints "advertising" when a central may connect.
"""

import asyncio
import sys

from bumble import att
from bumble.core import AdvertisingData
from bumble.device import Device
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address, OwnAddressType
from bumble.transport import open_transport

from ota_receiver import Receiver, Refused

SERVICE = '2f3e0001-21b4-4807-8bdc-74db56699529'
CONTROL = '2f3e0002-21b4-4807-8bdc-74db56699529'
DATA = '2f3e0003-21b4-4807-8bdc-74db56699529'
STATUS = '2f3e0004-21b4-4807-8bdc-74db56699529'


class OTADevice:
    def __init__(self, device, receiver, name):
        self.device, self.receiver, self.name = device, receiver, name
        self.connection = None
        self.wake = asyncio.Event()
        properties = Characteristic.Properties
        self.control = Characteristic(
            CONTROL, properties.WRITE | properties.INDICATE, Characteristic.WRITEABLE,
            CharacteristicValue(write=self.on_control_write))
        self.data = Characteristic(
            DATA, properties.WRITE | properties.WRITE_WITHOUT_RESPONSE, Characteristic.WRITEABLE,
            CharacteristicValue(write=lambda _, value: self.on_data_write(value, True)))
        self.status = Characteristic(
            STATUS, properties.READ | properties.NOTIFY, Characteristic.READABLE,
            CharacteristicValue(read=lambda _: self.receiver.status()))
        device.add_service(Service(SERVICE, [self.control, self.data, self.status]))
        self.control.on('subscription', self.on_control_subscription)
        self.status.on('subscription', self.on_status_subscription)
        device.on('connection', self.on_connection)
        # The server does not tell a handler whether a write wants a response.
        self.server_write_command = device.gatt_server.on_att_write_command
        device.gatt_server.on_att_write_command = self.on_write_command

    # Events of the stack.

    def on_connection(self, connection):
        self.connection = connection
        self.receiver.connected()
        connection.on('disconnection', self.on_disconnection)

    def on_disconnection(self, _):
        self.connection = None
        self.receiver.disconnected()
        self.wake.set()

    def on_control_subscription(self, _bearer, notify, indicate):
        self.receiver.control_cccd = notify | indicate << 1

    def on_status_subscription(self, _bearer, notify, indicate):
        self.receiver.status_cccd = notify | indicate << 1

    def on_control_write(self, _, value):
        self.answer(lambda: self.receiver.control_write(value))

    def on_data_write(self, value, with_response):
        self.answer(lambda: self.receiver.data_write(value, with_response))

    def on_write_command(self, bearer, request):
        if request.attribute_handle == self.data.handle:
            self.on_data_write(request.attribute_value, False)
        else:
            self.server_write_command(bearer, request)

    def answer(self, write):
        try:
            write()
        except Refused as refused:
            raise att.ATT_Error(refused.code) from refused
        finally:
            self.wake.set()

    # What is sent, and the reset.

    async def run(self):
        await self.advertise()
        while True:
            await self.wake.wait()
            self.wake.clear()
            await self.send()
            if self.receiver.wants_reset:
                await self.reset()
            if self.connection is None and not self.device.is_advertising:
                await self.advertise()

    async def send(self):
        while self.connection and (self.receiver.statuses or self.receiver.answers):
            try:
                if self.receiver.statuses:
                    value = self.receiver.statuses.pop(0)
                    await self.connection.device.notify_subscriber(
                        self.connection, self.status, value)
                else:
                    value = self.receiver.answers.pop(0)
                    await self.connection.device.indicate_subscriber(
                        self.connection, self.control, value)
                    self.receiver.confirmed()
            except Exception as error:  # The stack has no one error for a link that went away.
                print('not sent:', error, flush=True)

    async def reset(self):
        if self.connection:
            await self.connection.disconnect()
        self.receiver.reset()

    async def advertise(self):
        await self.device.start_advertising(
            own_address_type=OwnAddressType.PUBLIC,
            advertising_data=bytes(AdvertisingData([
                (AdvertisingData.FLAGS, bytes([0x06])),
                (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                 bytes.fromhex(SERVICE.replace('-', ''))[::-1]),
            ])),
            scan_response_data=bytes(AdvertisingData([
                (AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())])))
        print('advertising', flush=True)


async def main():
    transport_name, address, folder, name = (sys.argv[1:] + ['bumble device'])[:4]
    async with await open_transport(transport_name) as transport:
        device = Device.with_hci(
            name, Address(address, Address.PUBLIC_DEVICE_ADDRESS), transport.source,
            transport.sink)
        ota = OTADevice(device, Receiver(folder), name)
        await device.power_on()
        await ota.run()


asyncio.run(main())
