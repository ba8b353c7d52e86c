"""Flashes firmware over Bluetooth LE with the program `otaflash`, and verifies that it runs.

    import otaflash

    result = otaflash.flash("app.bin", "name:door-01", on_progress=print)
    print(result.to_version, result.verified)

Each failure is an exception with the error code of the program (otaflash.errors). The coroutines of otaflash.aio have
the same names and parameters.
"""
from . import aio, errors
from .commands import flash, inspect, inspect_image, run, scan
from .errors import NotVerified, OtaflashError
from .program import find_program
from .values import Advertisement, DeviceReport, FlashResult, Image, Progress

__all__ = [
    "Advertisement", "DeviceReport", "FlashResult", "Image", "NotVerified", "OtaflashError", "Progress", "aio",
    "errors", "find_program", "flash", "inspect", "inspect_image", "run", "scan",
]
