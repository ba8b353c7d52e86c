"""An ATT server with only the OTA service (Core 5.4, Vol 3, Part F; docs/ota-service.md, 1).

Its input and output are PDUs: this module does not wait and uses no sockets. Its caller implements Control,
Data and Status.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Protocol

from ota_protocol import CONTROL_UUID, DATA_UUID, SERVICE_UUID, STATUS_UUID

SERVICE, CONTROL, CONTROL_CCCD, DATA, STATUS, STATUS_CCCD = 1, 3, 4, 6, 8, 9
LAST = STATUS_CCCD
MTU_DEFAULT, MTU_OURS = 23, 517

ERROR_RESPONSE, CONFIRMATION, WRITE_COMMAND = 0x01, 0x1E, 0x52
NOTIFICATION, INDICATION = 0x1B, 0x1D
INVALID_HANDLE, READ_NOT_PERMITTED, WRITE_NOT_PERMITTED, INVALID_PDU = 0x01, 0x02, 0x03, 0x04
NOT_SUPPORTED, INVALID_OFFSET, NOT_FOUND, INVALID_LENGTH, NOT_ALLOWED = 0x06, 0x07, 0x0A, 0x0D, 0x13
READ, WRITE_WITHOUT_RESPONSE, WRITE, NOTIFY, INDICATE = 0x02, 0x04, 0x08, 0x10, 0x20


def uuid(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))[::-1]


def short(number: int) -> bytes:
    return struct.pack("<H", number)


PRIMARY, CHARACTERISTIC, CCCD = short(0x2800), short(0x2803), short(0x2902)


class Device(Protocol):
    """The device of the service. Its write methods return ATT error codes; 0 = no error."""

    def control_write(self, value: bytes) -> int: ...
    def data_write(self, value: bytes, command: bool) -> int: ...
    def status_read(self) -> bytes: ...
    def control_cccd(self, value: int) -> None: ...
    def status_cccd(self, value: int) -> None: ...
    def confirmed(self) -> None: ...


@dataclass(frozen=True)
class Attribute:
    kind: bytes
    value: bytes = b""


def declaration(properties: int, handle: int, text: str) -> Attribute:
    return Attribute(CHARACTERISTIC, struct.pack("<BH", properties, handle) + uuid(text))


TABLE = {
    SERVICE: Attribute(PRIMARY, uuid(SERVICE_UUID)),
    CONTROL - 1: declaration(WRITE | INDICATE, CONTROL, CONTROL_UUID),
    CONTROL: Attribute(uuid(CONTROL_UUID)),
    CONTROL_CCCD: Attribute(CCCD),
    DATA - 1: declaration(WRITE | WRITE_WITHOUT_RESPONSE, DATA, DATA_UUID),
    DATA: Attribute(uuid(DATA_UUID)),
    STATUS - 1: declaration(READ | NOTIFY, STATUS, STATUS_UUID),
    STATUS: Attribute(uuid(STATUS_UUID)),
    STATUS_CCCD: Attribute(CCCD),
}


class Refused(Exception):
    def __init__(self, handle: int, code: int):
        self.handle, self.code = handle, code


class ATTServer:
    """The server of one connection."""

    def __init__(self, device: Device, mtu: int = MTU_OURS):
        self._device = device
        self._ours = mtu
        self.mtu = MTU_DEFAULT
        self._answers = {
            0x02: self._exchange_mtu,
            0x04: self._find_information,
            0x06: self._find_by_type_value,
            0x08: self._read_by_type,
            0x0A: self._read,
            0x0C: self._read_blob,
            0x10: self._read_by_group_type,
            0x12: self._write,
        }

    def received(self, pdu: bytes) -> bytes | None:
        """Returns the response to a request; `None` for a PDU without response."""
        if not pdu:
            return None
        opcode = pdu[0]
        if opcode == CONFIRMATION:
            self._device.confirmed()
        elif opcode == WRITE_COMMAND and len(pdu) >= 3 and pdu[1:3] == short(DATA):
            self._device.data_write(pdu[3:], True)
        elif not opcode & 0x40 and not (opcode & 1):
            return self._response(opcode, pdu)
        return None

    def _response(self, opcode: int, pdu: bytes) -> bytes:
        try:
            answer = self._answers.get(opcode)
            if answer is None:
                raise Refused(0, NOT_SUPPORTED)
            return answer(pdu)[: self.mtu]
        except struct.error:
            return struct.pack("<BBHB", ERROR_RESPONSE, opcode, 0, INVALID_PDU)
        except Refused as refused:
            return struct.pack("<BBHB", ERROR_RESPONSE, opcode, refused.handle, refused.code)

    def _exchange_mtu(self, pdu: bytes) -> bytes:
        (theirs,) = struct.unpack("<xH", pdu)
        response = struct.pack("<BH", 0x03, self._ours)
        self.mtu = max(MTU_DEFAULT, min(theirs, self._ours))
        return response

    def _range(self, pdu: bytes) -> range:
        first, last = struct.unpack_from("<HH", pdu, 1)
        if first == 0 or first > last:
            raise Refused(first, INVALID_HANDLE)
        return range(first, min(last, LAST) + 1)

    def _find_information(self, pdu: bytes) -> bytes:
        found = [(handle, TABLE[handle].kind) for handle in self._range(pdu)]
        if not found:
            raise Refused(struct.unpack_from("<H", pdu, 1)[0], NOT_FOUND)
        size = len(found[0][1])
        entries = b""
        for handle, kind in found:
            if len(kind) != size or 2 + len(entries) + 2 + size > self.mtu:
                break
            entries += short(handle) + kind
        return bytes([0x05, 1 if size == 2 else 2]) + entries

    def _find_by_type_value(self, pdu: bytes) -> bytes:
        handles = self._range(pdu)
        if SERVICE in handles and pdu[5:7] == PRIMARY and pdu[7:] == TABLE[SERVICE].value:
            return b"\x07" + struct.pack("<HH", SERVICE, LAST)
        raise Refused(handles.start, NOT_FOUND)

    def _read_by_type(self, pdu: bytes) -> bytes:
        entries = [
            short(handle) + TABLE[handle].value
            for handle in self._range(pdu)
            if TABLE[handle].kind == pdu[5:] and TABLE[handle].value
        ]
        return self._list(0x09, entries, pdu)

    def _read_by_group_type(self, pdu: bytes) -> bytes:
        entries = [
            struct.pack("<HH", SERVICE, LAST) + TABLE[SERVICE].value
            for handle in self._range(pdu)
            if handle == SERVICE and pdu[5:] == PRIMARY
        ]
        return self._list(0x11, entries, pdu)

    def _list(self, opcode: int, entries: list[bytes], pdu: bytes) -> bytes:
        if not entries:
            raise Refused(struct.unpack_from("<H", pdu, 1)[0], NOT_FOUND)
        size = len(entries[0])
        fitting = max(1, (self.mtu - 2) // size)
        return bytes([opcode, size]) + b"".join(entries[:fitting])

    def _value(self, handle: int) -> bytes:
        if handle == STATUS:
            return self._device.status_read()
        if handle not in TABLE:
            raise Refused(handle, INVALID_HANDLE)
        if handle in (CONTROL, DATA):
            raise Refused(handle, READ_NOT_PERMITTED)
        return TABLE[handle].value or bytes(2)

    def _read(self, pdu: bytes) -> bytes:
        (handle,) = struct.unpack("<xH", pdu)
        return b"\x0b" + self._value(handle)

    def _read_blob(self, pdu: bytes) -> bytes:
        handle, offset = struct.unpack("<xHH", pdu)
        value = self._value(handle)
        if offset > len(value):
            raise Refused(handle, INVALID_OFFSET)
        return b"\x0d" + value[offset:]

    def _write(self, pdu: bytes) -> bytes:
        (handle,) = struct.unpack_from("<H", pdu, 1)
        error = self._written(handle, pdu[3:])
        if error:
            raise Refused(handle, error)
        return b"\x13"

    def _written(self, handle: int, value: bytes) -> int:
        if handle == CONTROL:
            return self._device.control_write(value)
        if handle == DATA:
            return self._device.data_write(value, False)
        if handle not in (CONTROL_CCCD, STATUS_CCCD):
            return WRITE_NOT_PERMITTED if handle in TABLE else INVALID_HANDLE
        if len(value) != 2:
            return INVALID_LENGTH
        (setting,) = struct.unpack("<H", value)
        if setting not in ((0, 2) if handle == CONTROL_CCCD else (0, 1)):
            return NOT_ALLOWED
        (self._device.control_cccd if handle == CONTROL_CCCD else self._device.status_cccd)(setting)
        return 0
