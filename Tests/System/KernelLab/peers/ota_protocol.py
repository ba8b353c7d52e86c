"""The terms of docs/ota-service.md: its UUIDs, its numbers, and the values of a device."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from ota_record import Offer

SERVICE_UUID = "2f3e0001-21b4-4807-8bdc-74db56699529"
CONTROL_UUID = "2f3e0002-21b4-4807-8bdc-74db56699529"
DATA_UUID = "2f3e0003-21b4-4807-8bdc-74db56699529"
STATUS_UUID = "2f3e0004-21b4-4807-8bdc-74db56699529"

PROTOCOL_VERSION = 1
PROOF_LABEL = b"otaflash authorize"
WRONG_PROOFS_MAXIMUM = 5


class State(IntEnum):
    IDLE = 0
    RECEIVING = 1
    VERIFYING = 2
    VERIFIED = 3
    ACTIVATING = 4


class StatusError(IntEnum):
    NONE = 0
    GAP = 1
    OVERRUN = 2
    FLASH_FAULT = 3
    NO_SESSION = 4
    NOT_AUTHORIZED = 5
    PATCH_REFUSED = 6


class Opcode(IntEnum):
    INFO = 0x01
    RUNNING = 0x02
    RESUME_POINT = 0x03
    CHALLENGE = 0x04
    AUTHORIZE = 0x05
    BEGIN = 0x06
    REWIND = 0x07
    VERIFY = 0x08
    ACTIVATE = 0x09
    CONFIRM = 0x0A
    ABORT = 0x0B
    PATCH_INFO = 0x0D
    PATCH = 0x0E
    PATCH_POINT = 0x0F


class Result(IntEnum):
    DONE = 0x00
    UNKNOWN_OPCODE = 0x01
    MALFORMED = 0x02
    WRONG_STATE = 0x03
    NOT_AUTHORIZED = 0x04
    WRONG_HARDWARE = 0x05
    DOES_NOT_FIT = 0x06
    DOWNGRADE = 0x07
    CRC_MISMATCH = 0x08
    FLASH_FAULT = 0x09
    VERSION_NOT_SUPPORTED = 0x0A
    PROOF_WRONG = 0x0B
    LOCKED = 0x0C
    NOTHING_TO_CONFIRM = 0x0E
    OTHER_BASE = 0x0F


class ATTError(IntEnum):
    """The ATT error of a refused Write Request; NONE is a Write Response."""

    NONE = 0x00
    INVALID_LENGTH = 0x0D
    BUSY = 0x80
    GAP = 0x81
    NO_SESSION = 0x82
    NOT_AUTHORIZED = 0x83
    CCCD_IMPROPER = 0xFD


class BeginFlags(IntFlag):
    RESTART = 1
    DOWNGRADE = 2
    OTHER_HARDWARE = 4
    SINK = 8
    PATCH = 16


class BootOutcome(IntEnum):
    NORMAL = 0
    ACTIVATED = 1
    REVERTED = 2


@dataclass(frozen=True)
class Board:
    """The values of INFO, the key if authorization is required, and the support of patches."""

    hardware: int
    slot_size: int
    chunk: int
    buffer_size: int
    key: bytes | None = None
    window_bits: int | None = None  # of heatshrink; None = patches are not supported
    lookahead_bits: int = 10


@dataclass
class Running:
    """The values of RUNNING."""

    version: bytes
    size: int
    crc: int
    outcome: BootOutcome = BootOutcome.NORMAL
    trial: bool = False
    image: bytes | None = None  # the bytes of the image, if the device can read them


@dataclass(frozen=True)
class Notification:
    """A value of Status."""

    value: bytes


@dataclass(frozen=True)
class Indication:
    """A value of Control. The owner must call `indication_ended` after the confirmation, or after `limit`
    seconds without a confirmation."""

    value: bytes
    limit: float


@dataclass(frozen=True)
class Reset:
    """The device must mark the slot for its bootloader and reset."""

    offer: Offer
