"""The device side of the OTA service, according to docs/ota-service.md. Its input is events, its output
bytes.

This module does not wait, read a clock or use Bluetooth. The owner of a Receiver passes it the events of the
link, calls `step` as long as there is work for the flash, and sends the content of `outbox`.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass

from ota_flash import Flash, FlashFault, Work
from ota_protocol import (
    PROOF_LABEL,
    PROTOCOL_VERSION,
    WRONG_PROOFS_MAXIMUM,
    ATTError,
    BeginFlags,
    Board,
    BootOutcome,
    Indication,
    Notification,
    Opcode,
    Reset,
    Result,
    Running,
    State,
    StatusError,
)
from ota_patch import PatchRefused, Stream
from ota_record import Offer, ResumePoint, ResumeRecord
from ota_session import FlashSession, PatchSession, SinkSession

# A type for the answer to a request. An operation may work on the flash before it answers.
Answer = tuple[Result, bytes]
Operation = Generator[float, None, Answer]


class Receiver:
    CONFIRMATION_LIMIT = 30.0  # the time limit of an ATT transaction (Core, Vol 3, Part F, 3.3.3)
    ACTIVATION_LIMIT = 1.0

    def __init__(
        self,
        board: Board,
        running: Running,
        flash: Flash,
        entropy: Callable[[int], bytes],
        confirm: Callable[[], None],
    ):
        """Boots: the record is in the first two pages of the flash, the slot after them."""
        self.board = board
        self.running = running
        self.flash = flash
        self.state = State.IDLE
        self.outbox: deque[Notification | Indication | Reset] = deque()
        self._entropy = entropy
        self._confirm_image = confirm
        self._slot = 2 * flash.page_size
        self._record = ResumeRecord(flash)
        self._held = self._held_in_flash()
        self._session: FlashSession | PatchSession | SinkSession | None = None
        self._ended_by = StatusError.NONE
        self._base_is_right: bool | None = None  # not checked yet
        self._activated: Offer | None = None
        self._wrong_proofs = 0
        self._connection = 0  # a counter; an answer belongs to the connection of its request
        self._request: tuple[int, bytes] | None = None
        self._work: Work | None = None
        self._operating = False  # for BEGIN or REWIND, during which no data is accepted
        self._drop_connection()
        if running.outcome is not BootOutcome.NORMAL:
            self._work = self._forget_at_boot()

    # The link

    def connected(self) -> None:
        self._connection += 1

    def disconnected(self) -> None:
        self._connection += 1
        self._drop_connection()
        self._request = None
        if self.state is State.VERIFYING:
            self.state = State.RECEIVING  # the operation detects this and ends
        self._reset_if_activated()

    def control_cccd(self, value: int) -> None:
        self._control_indicates = value == 0x0002

    def status_cccd(self, value: int) -> None:
        self._status_notifies = value == 0x0001

    def control_write(self, request: bytes) -> ATTError:
        if not self._control_indicates:
            return ATTError.CCCD_IMPROPER
        if self._operation_open:
            return ATTError.BUSY
        if not request:
            return ATTError.INVALID_LENGTH
        self._operation_open = True
        self._request = self._connection, request
        return ATTError.NONE

    def indication_ended(self) -> None:
        """Completes the operation after its indication was confirmed, or after the time limit expired."""
        self._operation_open = False
        self._reset_if_activated()

    def data_write(self, value: bytes, command: bool) -> ATTError:
        refused = self._judge_data(value)
        if refused is None:
            self._accept_data(value[4:])
            return ATTError.NONE
        error, reported = refused
        if command and reported is not None and reported not in self._told_errors:
            self._told_errors.add(reported)
            self._notify(reported)
        return error

    def status_read(self) -> bytes:
        return self._status(self._ended_by)

    # The flash

    def step(self) -> float | None:
        """Does the next piece of work; returns the flash time in seconds, or None if there is no work."""
        while self._work is not None or self._find_work():
            try:
                return next(self._work)
            except StopIteration:
                self._work = None
        return None

    def _find_work(self) -> bool:
        if self._request is not None:
            self._work = self._operate(*self._request)
            self._request = None
        elif self._held is not None and self._held.row_ready:
            self._work = self._drain_row()
        return self._work is not None

    def _drain_row(self) -> Work:
        held = self._held
        next_before, durable_before = held.next, held.durable
        try:
            yield from held.program_row()
        except FlashFault:
            self._flash_failed()
            return
        except PatchRefused:
            yield from self._patch_refused()
            return
        if held is not self._session:
            return
        if held.next < next_before:
            self._told_errors.discard(StatusError.GAP)
            self._notify(StatusError.GAP)
        elif durable_before < held.durable == held.size or self._window_moved():
            self._notify()

    def _flash_failed(self) -> None:
        """Ends the session that works on the flash; the device still holds the data that the record
        covers."""
        ended = self._session is not None and self._session is self._held
        self._record.distrust()
        self._held = self._held_in_flash()
        if ended:
            self._session = None
            self._end_session(StatusError.FLASH_FAULT)

    def _end_session(self, error: StatusError) -> None:
        self._session = None
        self._ended_by = error
        self.state = State.IDLE
        self._notify(error)

    def _patch_refused(self) -> Work:
        """Discards the complete session."""
        ended = self._session is not None and self._session is self._held
        self._held = None
        if ended:
            self._end_session(StatusError.PATCH_REFUSED)
        yield from self._record.forget()

    def _held_in_flash(self) -> FlashSession | PatchSession | None:
        point = self._record.point
        if point is None:
            return None
        held = self._flash_session(point)
        return held if held.prefix_crc(point.offset) == point.crc else None

    def _flash_session(self, point: ResumePoint) -> FlashSession | PatchSession:
        place = point, self.flash, self._slot, self._record, self.board.buffer_size
        stream = point.offer.stream
        if stream is None:
            return FlashSession(*place)
        base = self.running.image if stream.base_size else b""
        return PatchSession(*place, base or b"", (self.board.window_bits, self.board.lookahead_bits))

    def _forget_at_boot(self) -> Work:
        self._held = None
        try:
            yield from self._record.forget()
        except FlashFault:
            self._record.distrust()

    # Data

    def _judge_data(self, value: bytes) -> tuple[ATTError, StatusError | None] | None:
        if not 5 <= len(value) <= 4 + self.board.chunk:
            return ATTError.INVALID_LENGTH, None
        if not self._permitted:
            return ATTError.NOT_AUTHORIZED, StatusError.NOT_AUTHORIZED
        if self.state is not State.RECEIVING:
            return ATTError.NO_SESSION, StatusError.NO_SESSION
        (offset,) = struct.unpack_from("<I", value)
        size = len(value) - 4
        if offset != self._session.next:
            return ATTError.GAP, StatusError.GAP
        if offset + size > self._session.size:
            return ATTError.INVALID_LENGTH, StatusError.OVERRUN
        if size > self._window:
            return ATTError.BUSY, StatusError.OVERRUN
        return None

    def _accept_data(self, data: bytes) -> None:
        session = self._session
        block_before = session.next // self._block
        session.accept(data)
        self._told_errors.clear()
        whole = session.next == session.size
        if session.next // self._block != block_before or whole or self._window_moved():
            self._notify()

    @property
    def _block(self) -> int:
        page = self.flash.page_size
        return max(1, self.board.buffer_size // 4 // page) * page

    # Status

    @property
    def _window(self) -> int:
        taking = self.state is State.RECEIVING and not self._operating
        return self._session.window if taking else 0

    def _status(self, error: StatusError) -> bytes:
        session = self._session or self._held
        offsets = (session.next, session.crc, session.durable) if session else (0, 0, 0)
        window = self._window
        self._told_window, self._told_limit = window, offsets[0] + window
        return struct.pack("<BBHIII", self.state, error, window, *offsets)

    def _window_moved(self) -> bool:
        if self.state is not State.RECEIVING:
            return False
        window, chunk = self._window, self.board.chunk
        moved = self._session.next + window - self._told_limit
        reopened = self._told_window < chunk <= window
        # The reported limit leaves less room than a chunk, and the flash will not create more room.
        waited_for = (
            self._told_limit - self._session.next < chunk <= window and not self._session.row_ready
        )
        return reopened or waited_for or moved >= max(chunk, self.board.buffer_size // 4)

    def _notify(self, error: StatusError = StatusError.NONE) -> None:
        if self._status_notifies:
            self.outbox.append(Notification(self._status(error)))

    def _enter(self, state: State) -> None:
        self.state = state
        self._notify()

    # Control

    def _operate(self, connection: int, request: bytes) -> Work:
        try:
            result, payload = yield from self._perform(request)
        except FlashFault:
            self._flash_failed()
            result, payload = Result.FLASH_FAULT, b""
        except PatchRefused:
            yield from self._patch_refused()
            result, payload = Result.WRONG_STATE, b""
        self._operating = False
        if connection != self._connection:
            self._reset_if_activated()
            return
        limit = self.ACTIVATION_LIMIT if self.state is State.ACTIVATING else self.CONFIRMATION_LIMIT
        self.outbox.append(Indication(bytes([request[0] | 0x80, result]) + payload, limit))

    def _perform(self, request: bytes) -> Operation:
        """Makes the checks in the order of the document, and then performs the operation."""
        known = OPERATIONS.get(request[0])
        takes_patches = self.board.window_bits is not None
        if known is None or known.patches and not takes_patches:
            return Result.UNKNOWN_OPCODE, b""
        payload = request[1:]
        if len(payload) != known.payload.size:
            return Result.MALFORMED, b""
        fields = known.payload.unpack(payload)
        flags = known.flags
        if request[0] == Opcode.BEGIN and takes_patches and not fields[0] & BeginFlags.SINK:
            flags |= int(BeginFlags.PATCH)
        if flags is not None and fields[0] & ~flags:
            return Result.MALFORMED, b""
        if known.authorized and not self._permitted:
            return Result.NOT_AUTHORIZED, b""
        if self.state not in known.states:
            return Result.WRONG_STATE, b""
        answer = yield from known.perform(self, *fields)
        return answer

    @property
    def _permitted(self) -> bool:
        return self.board.key is None or self._authorized

    def _info(self, host_version: int) -> Operation:
        yield from ()
        if host_version < PROTOCOL_VERSION:
            return Result.VERSION_NOT_SUPPORTED, bytes([PROTOCOL_VERSION, PROTOCOL_VERSION])
        board = self.board
        patches = board.window_bits is not None
        flags = (board.key is not None) | self._authorized << 1 | 1 << 2 | patches << 3
        return Result.DONE, struct.pack(
            "<BBIIIHH",
            PROTOCOL_VERSION,
            flags,
            board.hardware,
            board.slot_size,
            self.flash.page_size,
            board.chunk,
            board.buffer_size,
        )

    def _running(self) -> Operation:
        yield from ()
        running = self.running
        return Result.DONE, running.version + struct.pack(
            "<IIBB", running.size, running.crc, running.outcome, running.trial
        )

    def _resume_point(self) -> Operation:
        yield from ()
        held = self._held
        if not isinstance(held, FlashSession):
            return Result.DONE, bytes(16)
        return Result.DONE, struct.pack("<IIII", held.offer.size, held.offer.crc, held.next, held.crc)

    def _base(self) -> tuple[int, int]:
        """Returns the size and the CRC32 of the base of patches; zeros without a readable base."""
        if self.running.image is None or self._base_is_right is False:
            return 0, 0
        return self.running.size, self.running.crc

    def _patch_info(self) -> Operation:
        yield from ()
        bits = self.board.window_bits, self.board.lookahead_bits
        return Result.DONE, struct.pack(
            "<BHBBIIIB", 1 << 1, 1 << 0 | 1 << 2 | 1 << 4, *bits, self.flash.page_size, *self._base(), 0
        )

    def _announce(self, base_size: int, base_crc: int, size: int, crc: int) -> Operation:
        self._announced = None
        if not 0 < size < 1 << 31 or base_size == 0 != base_crc:
            return Result.MALFORMED, b""
        if base_size and (base_size, base_crc) != self._base():
            return Result.OTHER_BASE, struct.pack("<II", *self._base())
        if base_size and self._base_is_right is None:
            for _ in range(0, base_size, self.flash.page_size):
                yield self.flash.timing.read_page
            self._base_is_right = zlib.crc32(self.running.image) == base_crc
            if not self._base_is_right:
                return Result.OTHER_BASE, bytes(8)
        self._announced = Stream(base_size, base_crc, size, crc)
        return Result.DONE, b""

    def _patch_point(self) -> Operation:
        yield from ()
        held = self._held
        if not isinstance(held, PatchSession):
            return Result.DONE, bytes(16)
        stream = held.offer.stream
        return Result.DONE, struct.pack(
            "<IIII", stream.size, stream.crc, held.next, held.point.offset
        )

    def _new_challenge(self) -> Operation:
        yield from ()
        if self.board.key is None:
            return Result.WRONG_STATE, b""
        if self._wrong_proofs == WRONG_PROOFS_MAXIMUM:
            return Result.LOCKED, b""
        self._challenge = self._entropy(16)
        return Result.DONE, self._challenge

    def _authorize(self, proof: bytes) -> Operation:
        yield from ()
        if self.board.key is None:
            return Result.WRONG_STATE, b""
        if self._wrong_proofs == WRONG_PROOFS_MAXIMUM:
            return Result.LOCKED, b""
        if self._challenge is None:
            return Result.WRONG_STATE, b""
        message = PROOF_LABEL + self._challenge + struct.pack("<I", self.board.hardware)
        self._challenge = None
        expected = hmac.new(self.board.key, message, hashlib.sha256).digest()[:16]
        if not hmac.compare_digest(proof, expected):
            self._wrong_proofs += 1
            return Result.PROOF_WRONG, b""
        self._wrong_proofs = 0
        self._authorized = True
        return Result.DONE, b""

    def _begin(self, flags: int, size: int, crc: int, version: bytes, hardware: int) -> Operation:
        stream = self._announced if flags & BeginFlags.PATCH else None
        if flags & BeginFlags.PATCH and stream is None:
            return Result.WRONG_STATE, b""
        if not 0 < size <= self.board.slot_size:
            return Result.DOES_NOT_FIT, b""
        if hardware != self.board.hardware and not flags & BeginFlags.OTHER_HARDWARE:
            return Result.WRONG_HARDWARE, b""
        order = struct.Struct("<BBH")
        if (
            order.unpack(version) < order.unpack(self.running.version)
            and not flags & BeginFlags.DOWNGRADE
        ):
            return Result.DOWNGRADE, b""
        if self.running.trial and not flags & BeginFlags.SINK:
            # The data overwrites the image to which the bootloader would revert.
            yield from self._confirm()
        offer = Offer(size, crc, version, hardware, stream)
        self._announced = None
        self._operating = True
        if flags & BeginFlags.SINK:
            session = SinkSession(offer, self.board.buffer_size)
        else:
            session = yield from self._hold(offer, bool(flags & BeginFlags.RESTART))
        self._session = session
        self._ended_by = StatusError.NONE
        self._take_data()
        return Result.DONE, struct.pack("<II", session.next, session.crc)

    def _hold(
        self, offer: Offer, restart: bool
    ) -> Generator[float, None, FlashSession | PatchSession]:
        if restart or self._held is None or self._held.offer != offer:
            point = ResumePoint(offer, 0, 0)
            yield from self._record.write(point)
            self._held = self._flash_session(point)
        elif not self._record.takes_marks:
            yield from self._record.write(self._held.point)
        return self._held

    def _rewind(self, offset: int) -> Operation:
        session = self._session
        if offset > session.next:
            return Result.MALFORMED, b""
        self._operating = True
        if isinstance(session, SinkSession):
            self._session = session = SinkSession(session.offer, self.board.buffer_size)
        elif isinstance(session, PatchSession):
            yield from session.rewind(offset)
        else:
            yield from session.rewind(offset - offset % self.flash.page_size)
        self._take_data()
        return Result.DONE, struct.pack("<II", session.next, session.crc)

    def _take_data(self) -> None:
        self._operating = False
        self._told_errors.clear()
        self._enter(State.RECEIVING)

    def _verify(self) -> Operation:
        session = self._session
        if session.next != session.size:
            return Result.WRONG_STATE, b""
        self._enter(State.VERIFYING)
        crc = session.crc
        if session is self._held:
            while session.row_ready and self.state is State.VERIFYING:
                yield from self._drain_for_verify(session)
            if self.state is not State.VERIFYING:
                return Result.WRONG_STATE, b""
            for _ in range(0, session.offer.size, self.flash.page_size):
                yield self.flash.timing.read_page
                if self.state is not State.VERIFYING:
                    return Result.WRONG_STATE, b""  # the connection is gone
            crc = session.prefix_crc(session.offer.size)
        if crc == session.offer.crc:
            self._enter(State.VERIFIED)
            return Result.DONE, struct.pack("<I", crc)
        yield from self._discard_session()
        return Result.CRC_MISMATCH, struct.pack("<I", crc)

    def _drain_for_verify(self, session: FlashSession | PatchSession) -> Work:
        yield from session.program_row()
        if session.next < session.size and self.state is State.VERIFYING:
            self.state = State.RECEIVING
            self._told_errors.discard(StatusError.GAP)
            self._notify(StatusError.GAP)

    def _discard_session(self) -> Work:
        discarded, self._session = self._session, None
        self._enter(State.IDLE)
        if discarded is self._held:
            self._held = None
            yield from self._record.forget()

    def _activate(self) -> Operation:
        if isinstance(self._session, SinkSession):
            return Result.WRONG_STATE, b""
        self._enter(State.ACTIVATING)
        yield from self._record.forget()
        self._activated, self._held, self._session = self._session.offer, None, None
        return Result.DONE, b""

    def _reset_if_activated(self) -> None:
        if self._activated is not None and not self._operation_open:
            self.outbox.append(Reset(self._activated))
            self._activated = None

    def _confirm(self) -> Operation:
        yield from ()
        if not self.running.trial:
            return Result.NOTHING_TO_CONFIRM, b""
        self._confirm_image()
        self.running.trial = False
        return Result.DONE, b""

    def _abort(self, flags: int) -> Operation:
        sink = isinstance(self._session, SinkSession)
        self._session = None
        if self.state is not State.IDLE:
            self._enter(State.IDLE)
        if flags and not sink:
            self._held = None
            yield from self._record.forget()
        return Result.DONE, b""

    def _drop_connection(self) -> None:
        """Resets the state that ends with a connection."""
        self._authorized = False
        self._challenge: bytes | None = None
        self._announced: Stream | None = None
        self._control_indicates = False
        self._status_notifies = False
        self._operation_open = False
        self._told_errors: set[StatusError] = set()
        self._told_window = 0
        self._told_limit = 0
        self.outbox.clear()


@dataclass(frozen=True)
class KnownOperation:
    perform: Callable[..., Operation]
    payload: struct.Struct = struct.Struct("")
    flags: int | None = None  # the defined flags if the payload starts with flags
    authorized: bool = False
    states: frozenset[State] = frozenset(State)
    patches: bool = False  # only for devices with patches


NOT_ACTIVATING = frozenset(State) - {State.ACTIVATING}
OPERATIONS = {
    Opcode.INFO: KnownOperation(Receiver._info, struct.Struct("<B")),
    Opcode.RUNNING: KnownOperation(Receiver._running),
    Opcode.RESUME_POINT: KnownOperation(Receiver._resume_point),
    Opcode.CHALLENGE: KnownOperation(Receiver._new_challenge),
    Opcode.AUTHORIZE: KnownOperation(Receiver._authorize, struct.Struct("16s")),
    Opcode.BEGIN: KnownOperation(
        Receiver._begin, struct.Struct("<BII4sI"), flags=0x0F, authorized=True, states=NOT_ACTIVATING
    ),
    Opcode.REWIND: KnownOperation(
        Receiver._rewind, struct.Struct("<I"), authorized=True, states=frozenset({State.RECEIVING})
    ),
    Opcode.VERIFY: KnownOperation(
        Receiver._verify, authorized=True, states=frozenset({State.RECEIVING})
    ),
    Opcode.ACTIVATE: KnownOperation(
        Receiver._activate, authorized=True, states=frozenset({State.VERIFIED})
    ),
    Opcode.CONFIRM: KnownOperation(Receiver._confirm, authorized=True),
    Opcode.ABORT: KnownOperation(
        Receiver._abort, struct.Struct("<B"), flags=0x01, authorized=True, states=NOT_ACTIVATING
    ),
    Opcode.PATCH_INFO: KnownOperation(Receiver._patch_info, patches=True),
    Opcode.PATCH: KnownOperation(
        Receiver._announce,
        struct.Struct("<IIII"),
        authorized=True,
        states=NOT_ACTIVATING,
        patches=True,
    ),
    Opcode.PATCH_POINT: KnownOperation(Receiver._patch_point, patches=True),
}
