"""A link without a radio: a Unix SEQPACKET socket connects a Bumble device with the process at the other end.
One packet is one ATT PDU.

A second Bumble device represents the other end: PDUs of the socket pass through its host and controller, so
that the complete stack of the device under test is used.
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

PDU_MAXIMUM = 1024


class UnixAir:
    STAND_IN_ADDRESS = "F0:00:00:00:00:02"

    def __init__(self, path: str):
        self._path = path
        self._link = LocalLink()
        self._stand_in = self.device("stand-in", self.STAND_IN_ADDRESS)

    def device(self, name: str, address: str) -> Device:
        """Returns a device on this link; Bumble's LocalLink supports only random addresses."""
        controller = Controller(name, link=self._link, public_address=address)
        config = DeviceConfiguration(name=name, address=hci.Address(address))
        return Device(config=config, host=Host(controller, AsyncPipeSink(controller)))

    async def serve(self, peripheral: Device) -> None:
        """Listens at the path, and connects each client to the peripheral as soon as the peripheral
        advertises."""
        await self._stand_in.power_on()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(self._path)
            listener.listen()
            listener.setblocking(False)
            while True:
                peer, _ = await asyncio.get_running_loop().sock_accept(listener)
                with peer:
                    connection = await self._stand_in.connect(peripheral.random_address)
                    await self._bridge(peer, connection)

    async def reach(self) -> None:
        """Advertises at STAND_IN_ADDRESS, and connects each central to the socket at the path."""
        connections: asyncio.Queue[Connection] = asyncio.Queue()
        self._stand_in.on(self._stand_in.EVENT_CONNECTION, connections.put_nowait)
        await self._stand_in.power_on()
        while True:
            await self._stand_in.start_advertising()
            connection = await connections.get()
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
                peer.connect(self._path)
                await self._bridge(peer, connection)

    async def _bridge(self, peer: socket.socket, connection: Connection) -> None:
        """Transfers PDUs until one of the two connections ends."""
        loop = asyncio.get_running_loop()
        peer.setblocking(False)
        ended = asyncio.Event()
        connection.on(connection.EVENT_DISCONNECTION, lambda _: ended.set())
        to_peer: asyncio.Queue[bytes] = asyncio.Queue()
        manager = self._stand_in.l2cap_channel_manager
        manager.register_fixed_channel(att.ATT_CID, lambda _, pdu: to_peer.put_nowait(pdu))

        async def send() -> None:
            while True:
                await loop.sock_sendall(peer, await to_peer.get())

        async def receive() -> None:
            while pdu := await loop.sock_recv(peer, PDU_MAXIMUM):
                self._stand_in.send_l2cap_pdu(connection.handle, att.ATT_CID, pdu)
                # Bumble's host queues PDUs without limit, so PDUs that the link has not accepted
                # stay in the socket.
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(work) for work in (send(), receive(), ended.wait())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not ended.is_set():
            await connection.disconnect()
