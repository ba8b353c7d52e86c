"""The functions of the package. Each runs the program once, and blocks until it ends."""
import contextlib
import signal
import subprocess
import tempfile
from typing import Callable, List, Optional, Sequence

from . import options, values
from .options import Path
from .program import find_program
from .session import Session
from .values import Advertisement, DeviceReport, Event, FlashResult, Image, Progress

#: The time in seconds in which the program must end after SIGINT, because it first notifies the device. A program that
#: still runs after this time is killed.
STOP_LIMIT = 20.0


def run(
    arguments: Sequence[str], *, on_progress: Optional[Callable[[Progress], None]] = None,
    on_event: Optional[Callable[[Event], None]] = None, accept_unverified: bool = False,
) -> List[Event]:
    """Runs any command of the program with --json, and returns its events. The last event is `result`.

    Raises OtaflashError if the exit status is not 0; with `accept_unverified`, 8 is not an error. Raises
    FileNotFoundError if there is no program. If a callback raises an exception, or on Ctrl-C, the program is interrupted;
    it stops at a safe point, and the same call resumes the transfer."""
    session = Session(on_progress, on_event)
    with tempfile.TemporaryFile() as standard_error:
        process = subprocess.Popen(
            command_line(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=standard_error,
            encoding="utf-8", errors="replace")
        try:
            with process:
                assert process.stdout
                try:
                    for line in process.stdout:
                        session.receive(line)
                except BaseException:
                    _stop(process)
                    raise
        finally:
            standard_error.seek(0)
            text = standard_error.read().decode("utf-8", "replace")
    return session.finish(exit_status(process.returncode), text, accept_unverified)


def command_line(arguments: Sequence[str]) -> List[str]:
    """Returns the command line with --json before any `--`, because options after `--` would be arguments."""
    return [find_program(), arguments[0], *_with_json(arguments[1:])]


def _with_json(arguments: Sequence[str]) -> List[str]:
    place = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:place], "--json", *arguments[place:]]


def exit_status(code: int) -> int:
    """Returns the status of a process as a shell reports it: a signal as 128 and its number."""
    return 128 - code if code < 0 else code


def _stop(process: "subprocess.Popen[str]") -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    try:
        # The last lines are read, so that the program does not wait for a reader.
        process.communicate(timeout=STOP_LIMIT)
    except BaseException as error:
        process.kill()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise


def flash(
    image: Path, device: str, *, on_progress: Optional[Callable[[Progress], None]] = None,
    on_event: Optional[Callable[[Event], None]] = None, accept_unverified: bool = False, dry_run: bool = False,
    allow_downgrade: bool = False, allow_other_hardware: bool = False, allow_unknown: bool = False,
    force: bool = False, restart: bool = False, key: Optional[Path] = None, key_file: Optional[Path] = None,
    image_version: Optional[str] = None, hardware: Optional[str] = None, protocol: Optional[str] = None,
    base: Optional[Path] = None, adapter: Optional[str] = None, timeout: Optional[float] = None,
    time_limit: Optional[float] = None, arguments: Sequence[str] = (),
) -> FlashResult:
    """Sends an image to a device, starts it, and verifies that it runs. If the device already runs the image, nothing
    is sent. If an earlier transfer was interrupted, it resumes.

    The parameters are the options of `otaflash flash`; times are in seconds. `arguments` contains further options.
    Raises OtaflashError; NotVerified if the device has restarted, but nothing shows which image runs, unless
    `accept_unverified` is set."""
    line = options.flash(
        image, device, dry_run=dry_run, allow_downgrade=allow_downgrade, allow_other_hardware=allow_other_hardware,
        allow_unknown=allow_unknown, force=force, restart=restart, key=key, key_file=key_file,
        image_version=image_version, hardware=hardware, protocol=protocol, base=base, adapter=adapter,
        timeout=timeout, time_limit=time_limit, arguments=arguments)
    return values.flash_result(
        run(line, on_progress=on_progress, on_event=on_event, accept_unverified=accept_unverified))


def inspect(
    device: str, image: Optional[Path] = None, *, adapter: Optional[str] = None, timeout: Optional[float] = None,
    arguments: Sequence[str] = (),
) -> DeviceReport:
    """Returns the services, the versions and the running image of a device; with an image, also the planned update."""
    return values.device_report(run(options.inspect(device, image, adapter, timeout, arguments)))


def inspect_image(image: Path, *, arguments: Sequence[str] = ()) -> List[Image]:
    """Returns the images in a file, without a device. A package can contain several images."""
    return values.images(run(options.inspect_image(image, arguments)))


def scan(seconds: float = 5.0, *, adapter: Optional[str] = None, arguments: Sequence[str] = ()) -> List[Advertisement]:
    """Returns the devices that advertise within a time in seconds. The adapter `sim` simulates devices."""
    return values.advertisements(run(options.scan(seconds, adapter, arguments)))
