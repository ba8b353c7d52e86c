"""The exceptions of the package: one class for each error code of the program.

docs/troubleshooting.md describes the codes. Codes of later versions raise OtaflashError itself."""
from .failure import NotVerified as NotVerified, OtaflashError as OtaflashError


class Bug(OtaflashError, code="E-BUG"):
    """An error in otaflash itself; please report it."""


class UsageError(OtaflashError, code="E-USAGE"):
    """The command line is invalid."""


class ImageError(OtaflashError, code="E-IMAGE"):
    """The image or its sidecar file is malformed, or the image does not match its own hash."""


class FileError(OtaflashError, code="E-FILE"):
    """A file is missing or unreadable."""


class SignatureError(OtaflashError, code="E-SIGNATURE"):
    """The image has no valid signature."""


class OtherSigner(OtaflashError, code="E-OTHER-SIGNER"):
    """The image is signed with a key other than the given key."""


class KeyFile(OtaflashError, code="E-KEY-FILE"):
    """The key file contains no key."""


class KeyFileExposed(OtaflashError, code="E-KEY-FILE-EXPOSED"):
    """Other users can read the key file."""


class ProjectError(OtaflashError, code="E-PROJECT"):
    """The project file otaflash.toml cannot be used."""


class WrongHardware(OtaflashError, code="E-WRONG-HARDWARE"):
    """The image is for another board."""


class DoesNotFit(OtaflashError, code="E-DOES-NOT-FIT"):
    """The image is larger than the slot."""


class Downgrade(OtaflashError, code="E-DOWNGRADE"):
    """The image is older than the running image."""


class VersionUnknown(OtaflashError, code="E-VERSION-UNKNOWN"):
    """The version of the image is unknown."""


class HardwareUnknown(OtaflashError, code="E-HARDWARE-UNKNOWN"):
    """The hardware of the image is unknown."""


class ImageNotTaken(OtaflashError, code="E-IMAGE-NOT-TAKEN"):
    """No update protocol of the device supports the image."""


class ProtocolAmbiguous(OtaflashError, code="E-PROTOCOL-AMBIGUOUS"):
    """Several update protocols support the image; choose one with --protocol."""


class NoPatch(OtaflashError, code="E-NO-PATCH"):
    """A patch is required, but it cannot be sent, or the device cannot apply it."""


class DeviceRefused(OtaflashError, code="E-DEVICE-REFUSED"):
    """The device refused an operation."""


class AuthorizationRequired(OtaflashError, code="E-AUTHORIZATION-REQUIRED"):
    """The device requires its key."""


class WrongKey(OtaflashError, code="E-WRONG-KEY"):
    """The key does not match the device."""


class DeviceLocked(OtaflashError, code="E-DEVICE-LOCKED"):
    """The device is locked after too many wrong keys; restart it."""


class DeviceFlashFault(OtaflashError, code="E-DEVICE-FLASH-FAULT"):
    """The device's flash failed."""


class NoUpdateService(OtaflashError, code="E-NO-UPDATE-SERVICE"):
    """The device has no update service."""


class ProtocolVersion(OtaflashError, code="E-PROTOCOL-VERSION"):
    """The device uses another protocol version."""


class NoConsole(OtaflashError, code="E-NO-CONSOLE"):
    """The device has no console."""


class ImageRejected(OtaflashError, code="E-IMAGE-REJECTED"):
    """The received image does not match, or the bootloader rejected it."""


class Reverted(OtaflashError, code="E-REVERTED"):
    """The old image runs again: the bootloader did not start the new image, or reverted it."""


class OldVersionRuns(OtaflashError, code="E-OLD-VERSION-RUNS"):
    """The device restarted into the old image."""


class DifferentImageRuns(OtaflashError, code="E-DIFFERENT-IMAGE-RUNS"):
    """The device runs neither the old image nor the new image."""


class UnreachableAfterActivation(OtaflashError, code="E-UNREACHABLE-AFTER-ACTIVATION"):
    """The device was not found after its restart."""


class BlockKeepsFailing(OtaflashError, code="E-BLOCK-KEEPS-FAILING"):
    """A block is still wrong after several attempts."""


class Stalled(OtaflashError, code="E-STALLED"):
    """The device accepts no more data."""


class NoProgress(OtaflashError, code="E-NO-PROGRESS"):
    """The device requests the same offset repeatedly."""


class LinkLost(OtaflashError, code="E-LINK-LOST"):
    """The connection was lost."""


class ProtocolViolation(OtaflashError, code="E-PROTOCOL-VIOLATION"):
    """The device violated a protocol."""


class TimeLimit(OtaflashError, code="E-TIME-LIMIT"):
    """The time limit expired."""


class Interrupted(OtaflashError, code="E-INTERRUPTED"):
    """Stopped by a signal."""


class NoAdapter(OtaflashError, code="E-NO-ADAPTER"):
    """No Bluetooth adapter can be used."""


class DeviceNotFound(OtaflashError, code="E-DEVICE-NOT-FOUND"):
    """The device does not answer or advertise."""


class DeviceAmbiguous(OtaflashError, code="E-DEVICE-AMBIGUOUS"):
    """Several devices match."""


class DeviceBusy(OtaflashError, code="E-DEVICE-BUSY"):
    """Another process uses the device."""


class PermissionRefused(OtaflashError, code="E-PERMISSION"):
    """Permission denied by the system or the device."""


class NotPaired(OtaflashError, code="E-NOT-PAIRED"):
    """The device requires pairing first."""


class PairingFailed(OtaflashError, code="E-PAIRING-FAILED"):
    """Pairing failed."""


class BondForgotten(OtaflashError, code="E-BOND-FORGOTTEN"):
    """The device no longer has the keys of a pairing."""


class SystemCallFailed(OtaflashError, code="E-SYSTEM-CALL"):
    """A system call failed."""


class Baseline(OtaflashError, code="E-BASELINE"):
    """The baseline of a benchmark is not comparable."""


class BelowBaseline(OtaflashError, code="E-BELOW-BASELINE"):
    """A benchmark is slower than its baseline."""


class Campaign(OtaflashError, code="E-CAMPAIGN"):
    """A campaign or its device table is malformed, or changed after its run started."""


class FleetRun(OtaflashError, code="E-FLEET-RUN"):
    """No run or several runs match."""


class FleetRunHeld(OtaflashError, code="E-FLEET-RUN-HELD"):
    """Another process is running a campaign."""


class FleetRequest(OtaflashError, code="E-FLEET-REQUEST"):
    """A request to a run was refused, or was not answered yet."""


class FleetPaused(OtaflashError, code="E-FLEET-PAUSED"):
    """A run is waiting for an operator."""


class FleetChain(OtaflashError, code="E-FLEET-CHAIN"):
    """The recorded events of a run were changed."""


class FleetStore(OtaflashError, code="E-FLEET-STORE"):
    """The store of runs cannot be used."""


class Sites(OtaflashError, code="E-SITES"):
    """The coordinator or a gateway of many sites cannot work."""


class SelfTest(OtaflashError, code="E-SELF-TEST"):
    """A check of the self-test failed."""


class StateError(OtaflashError, code="E-STATE"):
    """The state directory cannot be used."""


class Output(OtaflashError, code="E-OUTPUT"):
    """Standard output, a capture, a plot or a report cannot be written, or would overwrite another file."""
