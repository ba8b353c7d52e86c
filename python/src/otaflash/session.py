"""The JSON Lines of one command, without processes: lines in, events or an exception out."""
import json
from typing import Callable, List, Optional

from . import values
from .failure import NotVerified, OtaflashError, error_for
from .values import Event, Progress

#: The exit status of an update whose device only restarted.
NOT_VERIFIED = 8


class Session:
    """Collects the events of a command, and calls `on_event` for each and `on_progress` for each progress event."""

    def __init__(
        self, on_progress: Optional[Callable[[Progress], None]] = None,
        on_event: Optional[Callable[[Event], None]] = None,
    ) -> None:
        self.events: List[Event] = []
        self._on_progress = on_progress
        self._on_event = on_event

    def receive(self, line: str) -> None:
        """Handles one line of the standard output."""
        if not line.strip():
            return
        try:
            event = json.loads(line)
        except ValueError:
            raise OtaflashError(
                "E-BUG", f"the program printed a line that is not JSON: {line[:120]!r}", exit_status=1) from None
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            raise OtaflashError("E-BUG", f"the program printed a line without a type: {line[:120]!r}", exit_status=1)
        self.events.append(event)
        if self._on_event:
            self._on_event(event)
        if self._on_progress and event["type"] == "task_progress":
            self._on_progress(values.progress(event))

    def finish(self, exit_status: int, standard_error: str, accept_unverified: bool = False) -> List[Event]:
        """Returns the events of a command that has ended; raises its error if it failed."""
        error = next((e for e in reversed(self.events) if e["type"] == "error"), None)
        ended = bool(self.events) and self.events[-1]["type"] == "result"
        if ended and exit_status == 0:
            return self.events
        if ended and exit_status == NOT_VERIFIED:
            if accept_unverified:
                return self.events
            raise NotVerified(values.flash_result(self.events))
        if error is None:
            text = standard_error.strip()[-2000:] or "the program printed no error"
            raise OtaflashError(
                "E-BUG", f"otaflash ended with exit status {exit_status}: {text}", exit_status=exit_status,
                events=self.events)
        raise error_for(error, exit_status, self.events)
