"""The base class of the exceptions, and the exception for updates that are not verified."""
from typing import ClassVar, Dict, List, Optional, Type

from .values import Event, FlashResult


class OtaflashError(Exception):
    """An error of the program. The text of the exception contains the message, the code, the reason and the remedy."""

    #: The error code of the class; empty for the base class.
    CODE: ClassVar[str] = ""
    #: The class of each error code.
    CLASSES: ClassVar[Dict[str, Type["OtaflashError"]]] = {}

    def __init_subclass__(cls, code: str = "") -> None:
        cls.CODE = code
        if code:
            OtaflashError.CLASSES[code] = cls

    def __init__(
        self, code: str, message: str, *, exit_status: int, why: str = "", help: str = "", retryable: bool = False,
        details: Optional[List[str]] = None, events: Optional[List[Event]] = None,
    ) -> None:
        super().__init__(f"{message} [{code}]" + (f"\n{why}" if why else "") + (f"\nhelp: {help}" if help else ""))
        self.code = code
        self.message = message
        self.why = why
        self.help = help
        self.exit_status = exit_status
        #: Whether the same call can succeed without a change.
        self.retryable = retryable
        self.details = details or []
        #: All events of the command, up to the error.
        self.events = events or []

    @property
    def resumable(self) -> bool:
        """Whether the device holds the data, so that the same call resumes the transfer (exit status 75)."""
        return self.exit_status == 75


class NotVerified(OtaflashError):
    """The image was sent and the device has restarted, but nothing shows which image runs (exit status 8)."""

    def __init__(self, result: FlashResult) -> None:
        super().__init__(
            "", "the image was sent and the device has restarted, but nothing shows which image runs", exit_status=8,
            help="pass accept_unverified=True to accept such updates", events=list(result.events))
        self.result = result


def error_for(event: Event, exit_status: int, events: List[Event]) -> OtaflashError:
    """Returns the exception for an event `error`."""
    code = str(event["code"])
    return OtaflashError.CLASSES.get(code, OtaflashError)(
        code, str(event["message"]), exit_status=exit_status, why=str(event.get("why", "")),
        help=str(event.get("help", "")), retryable=bool(event.get("retryable")), details=event.get("details"),
        events=events)
