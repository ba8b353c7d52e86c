"""A peripheral that sends a request before it answers, and notifications while it disconnects.

    parting.py TRANSPORT ADDRESS FILE

Its first PDU is an Exchange MTU Request from the device; the central's request stays open until FILE exists.
Then the response and ten notifications follow, and the link is ended. Uses raw PDUs, without a GATT library.
"""

import asyncio
import os
import sys

from bumble.att import ATT_CID
from bumble.device import Device
from bumble.hci import Address, OwnAddressType
from bumble.transport import open_transport

OWN_MTU = 247
EXCHANGE_MTU_REQUEST, EXCHANGE_MTU_RESPONSE, NOTIFICATION = 0x02, 0x03, 0x1B
LAST_WORDS = 10
HANDLE = 0x0042


def say(*words):
    print(*words, flush=True)


def received(_handle, pdu):
    if pdu[0] == EXCHANGE_MTU_RESPONSE:
        say('the central accepts', int.from_bytes(pdu[1:3], 'little'))
    else:
        say('from the central:', pdu.hex(' '))


async def converse(connection, file):
    def send(opcode, *values):
        connection.send_l2cap_pdu(ATT_CID, bytes([opcode, *values]))

    say('connected')
    send(EXCHANGE_MTU_REQUEST, *OWN_MTU.to_bytes(2, 'little'))
    while not os.path.exists(file):
        await asyncio.sleep(0.1)
    send(EXCHANGE_MTU_RESPONSE, *OWN_MTU.to_bytes(2, 'little'))
    for word in range(LAST_WORDS):
        send(NOTIFICATION, *HANDLE.to_bytes(2, 'little'), word)
    # A controller that ends the link may drop PDUs that it has not sent.
    await asyncio.sleep(0.5)
    await connection.disconnect()
    say('gone')


async def main():
    transport_name, address, file = sys.argv[1:]
    async with await open_transport(transport_name) as transport:
        device = Device.with_hci(
            'parting', Address(address, Address.PUBLIC_DEVICE_ADDRESS), transport.source,
            transport.sink)
        device.l2cap_channel_manager.register_fixed_channel(ATT_CID, received)
        connected = asyncio.get_running_loop().create_future()
        device.on('connection', connected.set_result)
        await device.power_on()
        await device.start_advertising(own_address_type=OwnAddressType.PUBLIC)
        say('advertising')
        await converse(await connected, file)


asyncio.run(main())
