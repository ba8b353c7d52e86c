"""PyPI's smpclient, on its Bumble transport, updates a device with MCUboot that swaps.

    smp_client.py TRANSPORT NAME IMAGE

NAME is the advertised name of the device. The image is uploaded, tried, reverted because it is not confirmed,
tried again and confirmed; each step is read back. Ends with 0 if the device passes all steps.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bumble.hci import Address
from smp import image_management
from smpclient import SMPClient
from smpclient.generics import SMPRequest, success
from smpclient.mcuboot import IMAGE_TLV, ImageInfo
from smpclient.requests.image_management import ImageStatesRead, ImageStatesWrite
from smpclient.requests.os_management import EchoWrite, ResetWrite
from smpclient.transport.bumble import SMPBumbleTransport

from ota_client import expect
from ota_device import run, say

OWN_ADDRESS = Address("F0:00:00:00:00:04", Address.RANDOM_DEVICE_ADDRESS)
# The time limit of a request on a busy emulated machine; smpclient's own 2.5 s are for real
# machines.
ANSWER_SECONDS = 20
REBOOT_SECONDS = 1
ECHO = "a text that is longer than one write of the smallest ATT_MTU"


@asynccontextmanager
async def connected(transport: str, name: str) -> AsyncIterator[SMPClient]:
    link = SMPBumbleTransport(hci=transport, host_address=OWN_ADDRESS)
    async with SMPClient(link, name, timeout_s=ANSWER_SECONDS) as client:
        yield client


async def ask(client: SMPClient, request: SMPRequest):
    response = await client.request(request)
    if not success(response):
        raise SystemExit(f"FAILED {request}: {response}")
    return response


def slots(response: image_management.ImageStatesReadResponse) -> list[tuple]:
    """Returns the reported slots, in their order: hash, and the flags that are set."""
    flags = ("active", "confirmed", "pending", "permanent")
    return [
        (bytes(image.hash), *(flag for flag in flags if getattr(image, flag)))
        for image in sorted(response.images, key=lambda image: image.slot)
    ]


async def upload(client: SMPClient, image: bytes) -> None:
    offsets = [offset async for offset in client.upload(image)]
    expect("the upload goes forward", offsets, sorted(set(offsets)))
    expect("the complete image is held", offsets[-1], len(image))
    say("ok", len(offsets), "requests")


async def restart(client: SMPClient) -> None:
    """The device sends the answer first, and restarts a moment later."""
    await ask(client, ResetWrite())
    await client.disconnect()
    await asyncio.sleep(REBOOT_SECONDS)


async def update(transport: str, name: str, path: Path) -> None:
    image, new = path.read_bytes(), ImageInfo.load_file(str(path)).get_tlv(IMAGE_TLV.SHA256).value

    async with connected(transport, name) as client:
        expect("an echo", (await ask(client, EchoWrite(d=ECHO))).r, ECHO)
        ((old, *found),) = slots(await ask(client, ImageStatesRead()))
        expect("one image at first", found, ["active", "confirmed"])
        await upload(client, image)
        running = (old, "active", "confirmed")
        expect("it is in the slot", slots(await ask(client, ImageStatesRead())), [running, (new,)])
        pending = [running, (new, "pending")]
        answer = await ask(client, ImageStatesWrite(hash=new))
        expect("it is to be tried", slots(answer), pending)
        await restart(client)

    async with connected(transport, name) as client:
        trial = [(new, "active"), (old, "confirmed")]
        expect("it runs on trial", slots(await ask(client, ImageStatesRead())), trial)
        await restart(client)

    async with connected(transport, name) as client:
        expect("reverted", slots(await ask(client, ImageStatesRead())), [running, (new,)])
        await ask(client, ImageStatesWrite(hash=new))
        await restart(client)

    async with connected(transport, name) as client:
        expect("it runs again", slots(await ask(client, ImageStatesRead())), trial)
        done = [(new, "active", "confirmed"), (old,)]
        answer = await ask(client, ImageStatesWrite(hash=new, confirm=True))
        expect("it is confirmed", slots(answer), done)
        await restart(client)

    async with connected(transport, name) as client:
        expect("it is permanent", slots(await ask(client, ImageStatesRead())), done)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    run(update(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
