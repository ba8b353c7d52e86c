"""The values that the functions return. FlashResult, Image and DeviceReport contain the events of the program, to which
later versions add members."""
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

Event = Dict[str, Any]


@dataclass(frozen=True)
class Progress:
    """The progress of the upload. The counts are bytes of the image, also if a patch is sent."""

    device: Optional[str]
    task: str
    done: int
    total: int
    #: Bytes of the image per second.
    rate: Optional[float]
    #: The remaining time in seconds.
    remaining: Optional[float]

    @property
    def fraction(self) -> float:
        return self.done / self.total if self.total else 1.0


@dataclass(frozen=True)
class FlashResult:
    """The result of an update."""

    device: str
    #: flashed, already-current, would-flash (a dry run) or restarted (exit status 8).
    outcome: str
    #: Whether the new image was verified to run.
    verified: bool
    #: The grade of the verification: none, restarted, boot-loader, changed, version or read-back.
    proof: Optional[str]
    from_version: Optional[str]
    to_version: Optional[str]
    #: Seconds.
    duration: Optional[float]
    #: The number of times that the transfer was resumed.
    resumes: int
    #: All events of the command.
    events: Tuple[Event, ...] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Image:
    """An image in a file."""

    name: str
    format: str
    size: int
    crc32: str
    version: Optional[str]
    hardware: Optional[str]
    event: Event = field(repr=False, compare=False)


@dataclass(frozen=True)
class DeviceReport:
    """The report of `otaflash info` about a device."""

    device: str
    #: None if the device has no supported update protocol.
    protocol: Optional[str]
    running_version: Optional[str]
    hardware: Optional[str]
    #: The characteristics of each service.
    services: Dict[str, List[str]]
    #: The texts of the Device Information service, by name.
    information: Dict[str, str]
    #: With an image: already-current, would-flash or refused; a package has one outcome for each image.
    forecasts: Tuple[str, ...]
    events: Tuple[Event, ...] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Advertisement:
    """The last advertisement of a device."""

    id: str
    name: Optional[str]
    #: dBm.
    rssi: Optional[int]
    services: Tuple[str, ...]


def _optional(value: Any) -> Optional[str]:
    return None if value is None else str(value)


def progress(event: Event) -> Progress:
    rate, remaining = event.get("rate_bytes_per_second"), event.get("eta_ms")
    return Progress(
        event.get("device"), str(event["task"]), int(event["done"]), int(event["total"]), rate,
        None if remaining is None else remaining / 1000)


def flash_result(events: List[Event]) -> FlashResult:
    result = events[-1]
    device = (result["devices"] or [{"id": ""}])[0]
    milliseconds = device.get("ms")
    return FlashResult(
        str(device["id"]), str(device.get("outcome", result["outcome"])), bool(device.get("verified")),
        _optional(device.get("proof")), _optional(device.get("from")), _optional(device.get("to")),
        None if milliseconds is None else milliseconds / 1000, int(device.get("resumes", 0)), tuple(events))


def images(events: List[Event]) -> List[Image]:
    return [
        Image(str(e["name"]), str(e["format"]), int(e["size"]), str(e["crc32"]), _optional(e.get("version")),
              _optional(e.get("hardware")), e)
        for e in events if e["type"] == "image"
    ]


def device_report(events: List[Event]) -> DeviceReport:
    device: Event = next((e for e in events if e["type"] == "device"), {"id": ""})
    return DeviceReport(
        str(device["id"]), _optional(device.get("protocol")), _optional(device.get("running")),
        _optional(device.get("hardware")),
        {e["uuid"]: e["characteristics"] for e in events if e["type"] == "service"},
        {e["name"]: e["value"] for e in events if e["type"] == "information"},
        tuple(e["outcome"] for e in events if e["type"] == "forecast"), tuple(events))


def advertisements(events: List[Event]) -> List[Advertisement]:
    last = {
        e["id"]: Advertisement(str(e["id"]), _optional(e.get("name")), e.get("rssi"), tuple(e["services"]))
        for e in events if e["type"] == "advertisement"
    }
    return list(last.values())
