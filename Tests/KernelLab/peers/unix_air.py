"""An air without a radio: each connection to a Unix SEQPACKET socket is a link to a Bumble device.

One packet is one ATT PDU. A second Bumble device, the central, stands for who connected: PDUs of the
socket go out through its host and controller, so that the peripheral's whole stack takes part.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket

from bumble import att, hci
from bumble.controller import Controller
from bumble.device import Connection, Device, DeviceConfiguration
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink

CENTRAL_ADDRESS = "F0:00:00:00:00:02"
PDU_MAXIMUM = 1024


class UnixAir:
    def __init__(self, path: str):
        self._path = path
        self._link = LocalLink()
        self._central = self.device("central", CENTRAL_ADDRESS)

    def device(self, name: str, address: str) -> Device:
        """A device of this air; random addresses are the only ones that Bumble's LocalLink knows."""
        controller = Controller(name, link=self._link, public_address=address)
        config = DeviceConfiguration(name=name, address=hci.Address(address))
        return Device(config=config, host=Host(controller, AsyncPipeSink(controller)))

    async def serve(self, peripheral: Device) -> None:
        """Connects whoever comes to the socket, one after the other, once the peripheral advertises."""
        await self._central.power_on()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(self._path)
            listener.listen()
            listener.setblocking(False)
            while True:
                peer, _ = await asyncio.get_running_loop().sock_accept(listener)
                with peer:
                    await self._bridge(peer, peripheral)

    async def _bridge(self, peer: socket.socket, peripheral: Device) -> None:
        loop = asyncio.get_running_loop()
        peer.setblocking(False)
        connection = await self._central.connect(peripheral.random_address)
        ended = asyncio.Event()
        connection.on(connection.EVENT_DISCONNECTION, lambda _: ended.set())
        to_peer: asyncio.Queue[bytes] = asyncio.Queue()
        manager = self._central.l2cap_channel_manager
        manager.register_fixed_channel(att.ATT_CID, lambda _, pdu: to_peer.put_nowait(pdu))

        async def send() -> None:
            while True:
                await loop.sock_sendall(peer, await to_peer.get())

        tasks = [
            asyncio.create_task(send()),
            asyncio.create_task(self._receive(peer, connection)),
            asyncio.create_task(ended.wait()),
        ]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not ended.is_set():
            await connection.disconnect()

    async def _receive(self, peer: socket.socket, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        while pdu := await loop.sock_recv(peer, PDU_MAXIMUM):
            self._central.send_l2cap_pdu(connection.handle, att.ATT_CID, pdu)
            # Bumble's host queues without limit; what the link has not taken yet stays in the socket.
            await asyncio.sleep(0)
