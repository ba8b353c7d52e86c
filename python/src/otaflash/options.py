"""The command lines of the program."""
import os
from typing import List, Optional, Sequence, Union

Path = Union[str, "os.PathLike[str]"]


def duration(seconds: float) -> str:
    """Returns a time in the notation of the program."""
    return f"{max(1, round(seconds * 1000))}ms"


def _option(name: str, value: Optional[str]) -> List[str]:
    return [] if value is None else [f"--{name}={value}"]


def _path(name: str, value: Optional[Path]) -> List[str]:
    return _option(name, None if value is None else os.fspath(value))


def _seconds(name: str, value: Optional[float]) -> List[str]:
    return _option(name, None if value is None else duration(value))


def flash(
    image: Path, device: str, *, dry_run: bool, allow_downgrade: bool, allow_other_hardware: bool, allow_unknown: bool,
    force: bool, restart: bool, key: Optional[Path], key_file: Optional[Path], image_version: Optional[str],
    hardware: Optional[str], protocol: Optional[str], base: Optional[Path], adapter: Optional[str],
    timeout: Optional[float], time_limit: Optional[float], arguments: Sequence[str],
) -> List[str]:
    flags = {
        "dry-run": dry_run, "allow-downgrade": allow_downgrade, "allow-other-hardware": allow_other_hardware,
        "allow-unknown": allow_unknown, "force": force, "restart": restart,
    }
    return [
        "flash", "--device", device, *(f"--{name}" for name, is_set in flags.items() if is_set),
        *_path("key", key), *_path("key-file", key_file), *_option("image-version", image_version),
        *_option("hardware", hardware), *_option("protocol", protocol), *_path("base", base),
        *_option("adapter", adapter), *_seconds("timeout", timeout), *_seconds("time-limit", time_limit),
        *arguments, "--", os.fspath(image),
    ]


def inspect(
    device: str, image: Optional[Path], adapter: Optional[str], timeout: Optional[float], arguments: Sequence[str]
) -> List[str]:
    return [
        "info", "--device", device, *_option("adapter", adapter), *_seconds("timeout", timeout), *arguments,
        *([] if image is None else ["--", os.fspath(image)]),
    ]


def inspect_image(image: Path, arguments: Sequence[str]) -> List[str]:
    return ["image", "info", *arguments, "--", os.fspath(image)]


def scan(seconds: float, adapter: Optional[str], arguments: Sequence[str]) -> List[str]:
    return ["scan", "--timeout", duration(seconds), *_option("adapter", adapter), *arguments]
