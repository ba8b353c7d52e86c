"""The device side of the otaflash OTA service, from docs/ota-service.md alone.

It shares no line with the C receiver: what the document leaves open is
decided here by the document's words. Flash takes no time; pages are durable when they are full.
"""

import json
import os
import struct
import zlib
from dataclasses import dataclass, field

IDLE, RECEIVING, VERIFYING, VERIFIED, ACTIVATING = range(5)
NO_ERROR, GAP, OVERRUN, FLASH_FAULT, NO_SESSION, NOT_AUTHORIZED = range(6)

DONE, UNKNOWN_OPCODE, MALFORMED, WRONG_STATE = 0, 1, 2, 3
WRONG_HARDWARE, DOES_NOT_FIT, DOWNGRADE, CRC_MISMATCH = 5, 6, 7, 8
VERSION_NOT_SUPPORTED, NOTHING_TO_CONFIRM = 0x0A, 0x0E

INFO, RUNNING, RESUME_POINT, CHALLENGE, AUTHORIZE, BEGIN = range(1, 7)
REWIND, VERIFY, ACTIVATE, CONFIRM, ABORT = range(7, 12)
REQUEST_LENGTHS = {
    INFO: 1, RUNNING: 0, RESUME_POINT: 0, CHALLENGE: 0, AUTHORIZE: 16, BEGIN: 17,
    REWIND: 4, VERIFY: 0, ACTIVATE: 0, CONFIRM: 0, ABORT: 1,
}

ATT_BUSY, ATT_GAP, ATT_NO_SESSION, ATT_WRONG_LENGTH, ATT_NO_CCCD = 0x80, 0x81, 0x82, 0x0D, 0xFD

SLOT_SIZE, PAGE_SIZE, LARGEST_CHUNK, BUFFER_SIZE = 512 * 1024, 4096, 508, 8192
HARDWARE = 0x0000A001
RESTART, ALLOW_DOWNGRADE, ALLOW_OTHER_HARDWARE, SINK = 1, 2, 4, 8


class Refused(Exception):
    """An ATT error that answers a write."""

    def __init__(self, code):
        super().__init__(hex(code))
        self.code = code


@dataclass
class Image:
    size: int
    crc32: int
    version: bytes
    hardware: int


@dataclass
class Session:
    image: Image
    octets: bytearray = field(default_factory=bytearray)
    sink: bool = False

    @property
    def durable(self):
        if self.sink or len(self.octets) == self.image.size:
            return len(self.octets)
        return len(self.octets) // PAGE_SIZE * PAGE_SIZE

    @property
    def crc32(self):
        return zlib.crc32(self.octets)


class Receiver:
    """Values in, values out: `answers` and `statuses` are what waits to be sent."""

    def __init__(self, folder):
        self.folder = folder
        self.answers, self.statuses = [], []
        self.outcome = 0
        self.running = Image(1000, 0x11223344, struct.pack('<BBH', 1, 2, 0), HARDWARE)
        self._load()
        self._boot()

    # Flash: the record of the running image, and what is durable of the session held.

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _load(self):
        self.held = None
        if os.path.exists(self._path('running.json')):
            with open(self._path('running.json'), encoding='ascii') as file:
                entry = json.load(file)
            self.running = Image(
                entry['size'], entry['crc32'], bytes.fromhex(entry['version']), HARDWARE)
        if os.path.exists(self._path('held.json')):
            with open(self._path('held.json'), encoding='ascii') as file:
                entry = json.load(file)
            with open(self._path('slot'), 'rb') as file:
                octets = bytearray(file.read(entry['durable']))
            self.held = Session(
                Image(entry['size'], entry['crc32'], bytes.fromhex(entry['version']),
                      entry['hardware']), octets)

    def _store(self, name, text):
        with open(self._path(name + '.new'), 'w', encoding='ascii') as file:
            file.write(text)
        os.replace(self._path(name + '.new'), self._path(name))

    def _keep(self):
        """Makes the held session's full pages durable; slot first, so a record never lies."""
        if self.held is None or self.held.sink:
            return
        with open(self._path('slot'), 'wb') as file:
            file.write(self.held.octets[:self.held.durable])
        image = self.held.image
        self._store('held.json', json.dumps({
            'size': image.size, 'crc32': image.crc32, 'version': image.version.hex(),
            'hardware': image.hardware, 'durable': self.held.durable}))

    def _forget(self):
        self.held = None
        if os.path.exists(self._path('held.json')):
            os.remove(self._path('held.json'))

    def _boot(self):
        self.state = IDLE
        self.session = None
        self.wants_reset = False
        self.connected()

    # Events of the stack.

    def connected(self):
        self.control_cccd = self.status_cccd = 0
        self.busy = False
        self.answers.clear()
        self.statuses.clear()
        self.told_limit = 0
        self.silenced = set()

    def disconnected(self):
        if self.state == VERIFYING:
            self.state = RECEIVING
        if self.state == ACTIVATING:
            self.wants_reset = True
        self.connected()

    def confirmed(self):
        self.busy = False
        if self.state == ACTIVATING:
            self.wants_reset = True

    def reset(self):
        """Into the new image, when one was activated."""
        image = self.session.image
        with open(self._path('image'), 'wb') as file:
            file.write(self.session.octets)
        self.running = image
        self._store('running.json', json.dumps(
            {'size': image.size, 'crc32': image.crc32, 'version': image.version.hex()}))
        self.outcome = 1
        self.held = None
        self._boot()

    # Status, section 2.

    def status(self, error=NO_ERROR):
        session = self.session
        if session is None:
            return struct.pack('<BBHIII', self.state, error, 0, 0, 0, 0)
        window = min(BUFFER_SIZE, 65535) if self.state == RECEIVING else 0
        return struct.pack(
            '<BBHIII', self.state, error, window, len(session.octets), session.crc32,
            session.durable)

    def _notify(self, error=NO_ERROR):
        if self.session is not None:
            self.told_limit = len(self.session.octets) + BUFFER_SIZE
        if self.status_cccd == 1:
            self.statuses.append(self.status(error))

    def _notify_once(self, error):
        if error not in self.silenced:
            self.silenced.add(error)
            self._notify(error)

    # Data, section 3.

    def data_write(self, value, with_response):
        if not 5 <= len(value) <= 4 + LARGEST_CHUNK:
            return self._refuse_data(with_response, ATT_WRONG_LENGTH, None)
        if self.session is None or self.state != RECEIVING:
            return self._refuse_data(with_response, ATT_NO_SESSION, NO_SESSION)
        (offset,) = struct.unpack_from('<I', value)
        chunk, session = value[4:], self.session
        if offset != len(session.octets):
            return self._refuse_data(with_response, ATT_GAP, GAP)
        if offset + len(chunk) > session.image.size:
            return self._refuse_data(with_response, ATT_WRONG_LENGTH, OVERRUN)
        if len(chunk) > BUFFER_SIZE:
            return self._refuse_data(with_response, ATT_BUSY, OVERRUN)
        before = len(session.octets)
        session.octets += chunk
        self.silenced.clear()
        now = len(session.octets)
        is_block = before // PAGE_SIZE != now // PAGE_SIZE
        if is_block or now == session.image.size:
            self._keep()
        moved = now + BUFFER_SIZE - self.told_limit
        if (is_block or now == session.image.size
                or moved >= max(LARGEST_CHUNK, BUFFER_SIZE // 4)):
            self._notify()

    def _refuse_data(self, with_response, code, error):
        # A gap is told once, whichever way the write came; the other errors to commands only.
        if error == GAP or (error is not None and not with_response):
            self._notify_once(error)
        if with_response:
            raise Refused(code)

    # Control, section 4.

    def control_write(self, value):
        if not value:
            raise Refused(ATT_WRONG_LENGTH)
        if self.control_cccd != 2:
            raise Refused(ATT_NO_CCCD)
        if self.busy:
            raise Refused(ATT_BUSY)
        self.busy = True
        opcode, payload = value[0], value[1:]
        result, answer = self._perform(opcode, payload)
        self.answers.append(bytes([opcode | 0x80, result]) + answer)

    def _perform(self, opcode, payload):
        if opcode not in REQUEST_LENGTHS:
            return UNKNOWN_OPCODE, b''
        if len(payload) != REQUEST_LENGTHS[opcode]:
            return MALFORMED, b''
        return {
            INFO: self._info, RUNNING: self._running, RESUME_POINT: self._resume_point,
            CHALLENGE: self._no_key, AUTHORIZE: self._no_key, BEGIN: self._begin,
            REWIND: self._rewind, VERIFY: self._verify, ACTIVATE: self._activate,
            CONFIRM: lambda _: (NOTHING_TO_CONFIRM, b''), ABORT: self._abort,
        }[opcode](payload)

    def _info(self, payload):
        if payload[0] < 1:
            return VERSION_NOT_SUPPORTED, bytes([1, 1])
        sink_supported = 1 << 2
        return DONE, struct.pack(
            '<BBIIIHH', 1, sink_supported, HARDWARE, SLOT_SIZE, PAGE_SIZE, LARGEST_CHUNK,
            BUFFER_SIZE)

    def _running(self, _):
        return DONE, self.running.version + struct.pack(
            '<IIBB', self.running.size, self.running.crc32, self.outcome, 0)

    def _resume_point(self, _):
        if self.held is None:
            return DONE, bytes(16)
        return DONE, struct.pack(
            '<IIII', self.held.image.size, self.held.image.crc32, len(self.held.octets),
            self.held.crc32)

    def _no_key(self, _):
        return WRONG_STATE, b''

    def _begin(self, payload):
        flags, size, crc32 = struct.unpack_from('<BII', payload)
        version, (hardware,) = payload[9:13], struct.unpack_from('<I', payload, 13)
        if flags & ~(RESTART | ALLOW_DOWNGRADE | ALLOW_OTHER_HARDWARE | SINK):
            return MALFORMED, b''
        if self.state == ACTIVATING:
            return WRONG_STATE, b''
        if not 0 < size <= SLOT_SIZE:
            return DOES_NOT_FIT, b''
        if hardware != HARDWARE and not flags & ALLOW_OTHER_HARDWARE:
            return WRONG_HARDWARE, b''
        if (struct.unpack('<BBH', version) < struct.unpack('<BBH', self.running.version)
                and not flags & ALLOW_DOWNGRADE):
            return DOWNGRADE, b''
        image = Image(size, crc32, version, hardware)
        if flags & SINK:
            self.session = Session(image, sink=True)
        else:
            if flags & RESTART or self.held is None or self.held.image != image:
                self.held = Session(image)
                self._keep()
            self.session = self.held
        self.state = RECEIVING
        return self._moved()

    def _rewind(self, payload):
        if self.state != RECEIVING:
            return WRONG_STATE, b''
        (offset,) = struct.unpack('<I', payload)
        if offset > len(self.session.octets):
            return MALFORMED, b''
        start = 0 if self.session.sink else offset // PAGE_SIZE * PAGE_SIZE
        del self.session.octets[start:]
        self._keep()
        return self._moved()

    def _moved(self):
        self.silenced.clear()
        self._notify()
        return DONE, struct.pack('<II', len(self.session.octets), self.session.crc32)

    def _verify(self, _):
        if self.state != RECEIVING or len(self.session.octets) != self.session.image.size:
            return WRONG_STATE, b''
        self.state = VERIFYING
        self._notify()
        crc32 = self.session.crc32
        if crc32 == self.session.image.crc32:
            self.state, result = VERIFIED, DONE
        else:
            self.state, result = IDLE, CRC_MISMATCH
            if not self.session.sink:
                self._forget()
            self.session = None
        self._notify()
        return result, struct.pack('<I', crc32)

    def _activate(self, _):
        if self.state != VERIFIED or self.session.sink:
            return WRONG_STATE, b''
        self._forget()
        self.state = ACTIVATING
        self._notify()
        return DONE, b''

    def _abort(self, payload):
        if payload[0] & ~1:
            return MALFORMED, b''
        if self.state == ACTIVATING:
            return WRONG_STATE, b''
        if payload[0] & 1 and (self.session is None or not self.session.sink):
            self._forget()
        self.session = None
        if self.state != IDLE:
            self.state = IDLE
            self._notify()
        return DONE, b''
