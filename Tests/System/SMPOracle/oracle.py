"""Compares the SMP codec with the Python package `smp`, in both directions.

usage: oracle.py CODEC COUNT SEED

To otaflash: `smp` creates random messages, CODEC (Tests/System/SMPOracle/Codec) decodes each to a typed value and
encodes it again; the result must mean the same to `smp`. From otaflash: CODEC creates random messages; `smp`
must accept each and encode it to the same bytes. Messages without a class in `smp` (slot info, the answer to
the query "mode") are compared as CBOR, by cbor2.

Ends with 1 and prints the seed at the first difference.
"""

import logging
import random
import subprocess
import sys

import cbor2
from smp import (
    file_management,
    header,
    image_management,
    message,
    os_management,
    settings_management,
    statistics_management,
)

BORDERS = [0, 1, 23, 24, 255, 256, 65535, 65536, 2**32 - 1]
LETTERS = ["a", "Z", " ", "0", "\u00e4", "\u6c34", "\U0001f680", '"', "\n"]
FLAGS = ["bootable", "pending", "confirmed", "active", "permanent"]


class Dice:
    """Random values for the fields of messages."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self) -> int:
        if self.random.random() < 0.5:
            return self.random.choice(BORDERS)
        return self.random.randrange(2**32)

    def text(self) -> str:
        count = self.random.choice([0, 1, 7, 23, 24, 100, 300])
        return "".join(self.random.choices(LETTERS, k=count))

    def data(self, count: int) -> bytes:
        return self.random.randbytes(count)

    def flag(self) -> bool:
        return self.random.random() < 0.5

    def maybe(self, **fields) -> dict:
        """Includes each field with a probability of one half; a function generates its value."""
        return {name: make() for name, make in fields.items() if self.flag()}


def state(dice: Dice) -> dict:
    """Returns the fields of a list of slots."""
    slots = []
    for _ in range(dice.random.randrange(5)):
        fields = {"slot": dice.number(), "version": dice.text()}
        fields |= dice.maybe(image=dice.number, hash=lambda: dice.data(32))
        fields |= dice.maybe(**{flag: dice.flag for flag in FLAGS})
        slots.append(image_management.ImageState(**fields))
    return {"images": slots} | dice.maybe(splitStatus=lambda: dice.random.randrange(-5, 100))


def upload(dice: Dice) -> dict:
    fields = {"off": dice.number(), "data": dice.data(dice.random.randrange(2450))}
    if dice.flag():
        fields["len"] = dice.number()
        fields |= dice.maybe(image=dice.number, sha=lambda: dice.data(32), upgrade=dice.flag)
    return fields


def error_v1(dice: Dice) -> dict:
    return {"rc": dice.random.randrange(1, 14)} | dice.maybe(rsn=dice.text)


KINDS = {
    os_management.EchoWriteRequest: lambda d: {"d": d.text()},
    os_management.EchoWriteResponse: lambda d: {"r": d.text()},
    os_management.ResetWriteRequest: lambda d: d.maybe(
        force=lambda: d.random.randrange(2), boot_mode=lambda: d.random.randrange(256)
    ),
    os_management.ResetWriteResponse: lambda d: {},
    os_management.MCUMgrParametersReadRequest: lambda d: {},
    os_management.MCUMgrParametersReadResponse: lambda d: {
        "buf_size": d.number(),
        "buf_count": d.number(),
    },
    os_management.OSApplicationInfoReadRequest: lambda d: d.maybe(format=d.text),
    os_management.OSApplicationInfoReadResponse: lambda d: {"output": d.text()},
    os_management.BootloaderInformationReadRequest: lambda d: d.maybe(query=d.text),
    os_management.BootloaderInformationReadResponse: lambda d: {"bootloader": d.text()},
    image_management.ImageStatesReadRequest: lambda d: {},
    image_management.ImageStatesReadResponse: state,
    image_management.ImageStatesWriteRequest: lambda d: (
        {"hash": d.data(32), "confirm": d.flag()} if d.flag() else {"confirm": True}
    ),
    image_management.ImageStatesWriteResponse: state,
    image_management.ImageUploadWriteRequest: upload,
    image_management.ImageUploadWriteResponse: lambda d: d.maybe(off=d.number, match=d.flag),
    image_management.ImageEraseRequest: lambda d: d.maybe(slot=d.number),
    image_management.ImageEraseResponse: lambda d: {},
    os_management.OSManagementErrorV1: error_v1,
    image_management.ImageManagementErrorV1: error_v1,
    os_management.OSManagementErrorV2: lambda d: {
        "err": {"group": 0, "rc": d.random.randrange(1, 6)}
    },
    image_management.ImageManagementErrorV2: lambda d: {
        "err": {"group": 1, "rc": d.random.randrange(1, 34)}
    },
}

CHECKSUMS = {"crc32": {"format": 0, "size": 4}, "sha256": {"format": 1, "size": 32}}


def checksum(dice: Dice) -> dict:
    kind = dice.random.choice(list(CHECKSUMS))
    output = dice.number() if kind == "crc32" else dice.data(32)
    return {"type": kind, "len": dice.number(), "output": output}


# Messages that only smp creates: CODEC decodes each and encodes it again.
DATA_KINDS = {
    os_management.DateTimeReadRequest: lambda d: {},
    os_management.DateTimeReadResponse: lambda d: {"datetime": d.text()},
    os_management.DateTimeWriteRequest: lambda d: {"datetime": d.text()},
    os_management.DateTimeWriteResponse: lambda d: {},
    statistics_management.ListOfGroupsRequest: lambda d: {},
    statistics_management.ListOfGroupsResponse: lambda d: {
        "stat_list": tuple(d.text() for _ in range(d.random.randrange(30)))
    },
    statistics_management.GroupDataRequest: lambda d: {"name": d.text()},
    statistics_management.GroupDataResponse: lambda d: {
        "name": d.text(),
        "fields": {f"s{n}": d.random.randrange(2**64) for n in range(d.random.randrange(30))},
    },
    settings_management.ReadSettingRequest: lambda d: (
        {"name": d.text()} | d.maybe(max_size=d.number)
    ),
    settings_management.ReadSettingResponse: lambda d: (
        {"val": d.data(d.random.randrange(300))} | d.maybe(max_size=d.number)
    ),
    settings_management.WriteSettingRequest: lambda d: {
        "name": d.text(),
        "val": d.data(d.random.randrange(300)),
    },
    settings_management.DeleteSettingRequest: lambda d: {"name": d.text()},
    settings_management.CommitSettingsRequest: lambda d: {},
    settings_management.LoadSettingsRequest: lambda d: {},
    settings_management.SaveSettingsRequest: lambda d: {},
    file_management.FileUploadRequest: lambda d: (
        {"name": d.text(), "off": d.number(), "data": d.data(d.random.randrange(2450))}
        | d.maybe(len=d.number)
    ),
    file_management.FileUploadResponse: lambda d: {"off": d.number()},
    file_management.FileDownloadRequest: lambda d: {"name": d.text(), "off": d.number()},
    file_management.FileDownloadResponse: lambda d: (
        {"off": d.number(), "data": d.data(d.random.randrange(2450))} | d.maybe(len=d.number)
    ),
    file_management.FileStatusRequest: lambda d: {"name": d.text()},
    file_management.FileStatusResponse: lambda d: {"len": d.number()},
    file_management.FileHashChecksumRequest: lambda d: (
        {"name": d.text()}
        | d.maybe(type=lambda: d.random.choice(list(CHECKSUMS)), len=d.number)
    ),
    file_management.FileHashChecksumResponse: checksum,
    file_management.SupportedFileHashChecksumTypesRequest: lambda d: {},
    file_management.SupportedFileHashChecksumTypesResponse: lambda d: {
        "types": d.maybe(**{name: lambda kind=kind: kind for name, kind in CHECKSUMS.items()})
    },
    file_management.FileCloseRequest: lambda d: {},
    file_management.FileCloseResponse: lambda d: {},
}

# Errors do not belong to a command; these are the errors that the codec supports.
ERRORS = {
    os_management.OSManagementErrorV1: (header.OP.READ_RSP, header.CommandId.OSManagement(6), 0),
    os_management.OSManagementErrorV2: (header.OP.READ_RSP, header.CommandId.OSManagement(6), 1),
    image_management.ImageManagementErrorV1: (
        header.OP.WRITE_RSP,
        header.CommandId.ImageManagement(5),
        0,
    ),
    image_management.ImageManagementErrorV2: (
        header.OP.WRITE_RSP,
        header.CommandId.ImageManagement(5),
        1,
    ),
}

BY_NAME = {kind.__name__: kind for kind in KINDS}
GENERIC = {"SlotInfoRequest", "SlotInfoResponse", "BootloaderModeResponse"}


def make(kind: type, dice: Dice) -> bytes:
    """Returns a random encoded message of a kind."""
    fields = (KINDS | DATA_KINDS)[kind](dice)
    if kind in ERRORS:
        operation, command, version = ERRORS[kind]
        body = cbor2.dumps(fields, canonical=True)
        head = header.Header(
            operation,
            header.Version(version),
            header.Flag(0),
            len(body),
            kind._GROUP_ID,
            dice.random.randrange(256),
            command,
        )
        return bytes(head) + body
    version = header.Version(dice.random.randrange(2))
    data = bytes(kind(version=version, sequence=dice.random.randrange(256), **fields))
    if kind is image_management.ImageStatesWriteResponse:
        # smp 4.2 encodes this message as the answer to a read.
        data = bytes([data[0] & ~7 | header.OP.WRITE_RSP]) + data[1:]
    return data


def meaning(kind: type, data: bytes) -> tuple:
    """Returns the meaning of a message, with missing flags as false."""
    parsed: message._MessageBase = kind.loads(data)
    fields = parsed.model_dump(exclude={"header", "smp_data"}, exclude_none=True)
    for slot in fields.get("images", []):
        for flag in FLAGS:
            slot.setdefault(flag, False)
    return bytes(parsed.header)[:2], bytes(parsed.header)[4:], fields


def differs(kind: str, seed: int, number: int, sent: bytes, got: str) -> None:
    sys.exit(
        f"oracle: {kind} differs (seed {seed}, message {number})\n  {sent.hex()}\n  {got}"
    )


def from_here(codec: str, count: int, seed: int) -> int:
    dice = Dice(seed)
    sent = [(kind, make(kind, dice)) for _ in range(count) for kind in KINDS | DATA_KINDS]
    lines = "".join(data.hex() + "\n" for _, data in sent)
    run = subprocess.run(
        [codec, "again"], input=lines, capture_output=True, text=True, check=True
    )
    answers = run.stdout.splitlines()
    if len(answers) != len(sent):
        sys.exit(f"oracle: {len(sent)} messages sent, {len(answers)} came back (seed {seed})")
    same = 0
    for number, ((kind, data), got) in enumerate(zip(sent, answers)):
        if got.startswith("refused") or meaning(kind, bytes.fromhex(got)) != meaning(kind, data):
            differs(kind.__name__, seed, number, data, got)
        same += got == data.hex()
    print(
        f"oracle: {len(sent)} messages of {len(KINDS | DATA_KINDS)} kinds from smp, {same} of them came back "
        f"byte for byte, the others with flags that smp had left out (seed {seed})"
    )
    return len(sent)


def from_there(codec: str, count: int, seed: int) -> int:
    run = subprocess.run(
        [codec, "random", str(seed), str(count)], capture_output=True, text=True, check=True
    )
    names = set()
    lines = run.stdout.splitlines()
    for number, line in enumerate(lines):
        name, digits = line.split()
        names.add(name)
        data = bytes.fromhex(digits)
        body = data[header.Header.SIZE :]
        if name in GENERIC:
            if cbor2.dumps(cbor2.loads(body), canonical=True) != body:
                differs(name, seed, number, data, "as CBOR")
            continue
        kind = BY_NAME[name]
        parsed = kind.loads(data)
        fields = parsed.model_dump(
            exclude_unset=True,
            exclude={"header", "version", "sequence", "smp_data"},
            exclude_none=True,
        )
        again = bytes(parsed.header) + cbor2.dumps(fields, canonical=True)
        if again != data:
            differs(name, seed, number, data, again.hex())
    missing = set(BY_NAME) - names
    if missing:
        sys.exit(f"oracle: the codec created no {sorted(missing)}")
    print(f"oracle: {len(lines)} messages of {len(names)} kinds from otaflash (seed {seed})")
    return len(lines)


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    # smp warns about each message that is not of the second version.
    logging.disable(logging.WARNING)
    codec, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    from_here(codec, count, seed)
    from_there(codec, count, seed)


main()
