"""Legacy DFU packages created by adafruit-nrfutil, and their contents as read by this tool (adafruit.json).

The tool has not supported versions 0.7 and 0.8 of the init packet since it left Python 2: three places in
its code confuse bytes with text, and are fixed here.
"""
import json
import pathlib
import random
import sys
import types

from ecdsa import NIST256p, SigningKey
from nordicsemi.__main__ import cli
from nordicsemi.dfu import manifest
from nordicsemi.dfu.intelhex import IntelHex
from nordicsemi.dfu.package import Package
from nordicsemi.dfu.signing import Signing

WORK, OUT = map(pathlib.Path, sys.argv[1:3])
BOARD = ["--dev-type", "0x52", "--dev-revision", "3", "--application-version", "9",
         "--sd-req", "0x64,0xFFFE"]


def load_key(signing: Signing, path: str) -> None:
    signing.sk = SigningKey.from_pem(pathlib.Path(path).read_text())


manifest.binascii = types.SimpleNamespace(hexlify=lambda data: data.hex())
Signing.load_key = load_key


def firmware(name: str, size: int) -> str:
    path = WORK / f"{name}.bin"
    path.write_bytes(random.Random(size).randbytes(size))
    return str(path)


def package(name: str, *words) -> None:
    cli.main(["dfu", "genpkg", *words, str(OUT / f"legacy-{name}.zip")], standalone_mode=False)


def display(path: pathlib.Path) -> dict:
    """Returns the contents of a package, as read by the tool."""
    said = Package.unpack_package(str(path), str(WORK / path.stem))
    parts = {role: getattr(said, role)
             for role in ["softdevice_bootloader", "softdevice", "bootloader", "application"]}
    return {"dfu_version": said.dfu_version,
            "parts": {role: facts(part) for role, part in parts.items() if part}}


def facts(part) -> dict:
    sizes = {name: getattr(part, name, None) for name in ["sd_size", "bl_size"]}
    return {"bin_file": part.bin_file, **sizes, **vars(part.init_packet_data)}


def main() -> None:
    app, sd, bl = firmware("app", 500), firmware("sd", 320), firmware("bl", 260)
    hexadecimal = IntelHex()
    hexadecimal.frombytes(bytearray(pathlib.Path(app).read_bytes()), offset=0x26000)
    hexadecimal.write_hex_file(str(WORK / "program.hex"))
    key = SigningKey.generate(curve=NIST256p)
    pem = WORK / "legacy.pem"
    pem.write_bytes(key.to_pem())
    (OUT / "legacy.pub.pem").write_bytes(key.get_verifying_key().to_pem())
    package("any", "--application", app)
    for version in ["0.5", "0.6", "0.7"]:
        package(version, *BOARD, "--application", app, "--dfu-ver", version)
    package("0.8", *BOARD, "--application", app, "--key-file", str(pem))
    package("hex", *BOARD[:6], "--sd-req", "none", "--application", str(WORK / "program.hex"))
    package("softdevice", *BOARD, "--softdevice", sd)
    package("bootloader", *BOARD, "--bootloader", bl, "--dfu-ver", "0.6")
    package("everything", *BOARD, "--application", app, "--softdevice", sd, "--bootloader", bl)
    package("everything-0.8", *BOARD, "--application", app, "--softdevice", sd, "--bootloader", bl,
            "--key-file", str(pem))
    said = {path.stem: display(path) for path in sorted(OUT.glob("legacy-*.zip"))}
    (OUT / "adafruit.json").write_text(json.dumps(said, indent=1) + "\n")
    # The layout requires every field, but the tool can omit one.
    package("no-type", *BOARD[2:], "--dev-type", "none", "--application", app)


main()
