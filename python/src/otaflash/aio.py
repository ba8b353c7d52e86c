"""The functions of the package as coroutines for asyncio, with the same names and parameters.

If a task is cancelled, the program is interrupted and stops at a safe point; the same call resumes the transfer."""
import asyncio
import contextlib
import signal
from typing import Callable, List, Optional, Sequence

from . import options, values
from .commands import STOP_LIMIT, command_line, exit_status
from .options import Path
from .session import Session
from .values import Advertisement, DeviceReport, Event, FlashResult, Image, Progress

#: The longest line of the program: a report of a campaign has one line for each device.
_LONGEST_LINE = 1 << 24


async def run(
    arguments: Sequence[str], *, on_progress: Optional[Callable[[Progress], None]] = None,
    on_event: Optional[Callable[[Event], None]] = None, accept_unverified: bool = False,
) -> List[Event]:
    """Runs any command of the program with --json, and returns its events; see otaflash.run."""
    session = Session(on_progress, on_event)
    process = await asyncio.create_subprocess_exec(
        *command_line(arguments), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, limit=_LONGEST_LINE)
    assert process.stdout and process.stderr
    # Both pipes are read at the same time, so that the program never waits for a reader.
    reading = asyncio.ensure_future(process.stderr.read())
    try:
        while True:
            line = await process.stdout.readline()
            if not line:
                break
            session.receive(line.decode("utf-8", "replace"))
        text = (await reading).decode("utf-8", "replace")
        code = await process.wait()
    except BaseException:
        await asyncio.shield(_stop(process, reading))
        raise
    return session.finish(exit_status(code), text, accept_unverified)


async def _stop(process: asyncio.subprocess.Process, reading: "asyncio.Future[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    assert process.stdout
    draining = asyncio.ensure_future(process.stdout.read())
    try:
        await asyncio.wait_for(process.wait(), STOP_LIMIT)
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()
    await asyncio.gather(draining, reading, return_exceptions=True)


async def flash(
    image: Path, device: str, *, on_progress: Optional[Callable[[Progress], None]] = None,
    on_event: Optional[Callable[[Event], None]] = None, accept_unverified: bool = False, dry_run: bool = False,
    allow_downgrade: bool = False, allow_other_hardware: bool = False, allow_unknown: bool = False,
    force: bool = False, restart: bool = False, key: Optional[Path] = None, key_file: Optional[Path] = None,
    image_version: Optional[str] = None, hardware: Optional[str] = None, protocol: Optional[str] = None,
    base: Optional[Path] = None, adapter: Optional[str] = None, timeout: Optional[float] = None,
    time_limit: Optional[float] = None, arguments: Sequence[str] = (),
) -> FlashResult:
    """Sends an image to a device, starts it, and verifies that it runs; see otaflash.flash."""
    line = options.flash(
        image, device, dry_run=dry_run, allow_downgrade=allow_downgrade, allow_other_hardware=allow_other_hardware,
        allow_unknown=allow_unknown, force=force, restart=restart, key=key, key_file=key_file,
        image_version=image_version, hardware=hardware, protocol=protocol, base=base, adapter=adapter,
        timeout=timeout, time_limit=time_limit, arguments=arguments)
    return values.flash_result(
        await run(line, on_progress=on_progress, on_event=on_event, accept_unverified=accept_unverified))


async def inspect(
    device: str, image: Optional[Path] = None, *, adapter: Optional[str] = None, timeout: Optional[float] = None,
    arguments: Sequence[str] = (),
) -> DeviceReport:
    """Returns the services, the versions and the running image of a device; see otaflash.inspect."""
    return values.device_report(await run(options.inspect(device, image, adapter, timeout, arguments)))


async def inspect_image(image: Path, *, arguments: Sequence[str] = ()) -> List[Image]:
    """Returns the images in a file, without a device; see otaflash.inspect_image."""
    return values.images(await run(options.inspect_image(image, arguments)))


async def scan(
    seconds: float = 5.0, *, adapter: Optional[str] = None, arguments: Sequence[str] = ()
) -> List[Advertisement]:
    """Returns the devices that advertise within a time in seconds; see otaflash.scan."""
    return values.advertisements(await run(options.scan(seconds, adapter, arguments)))
