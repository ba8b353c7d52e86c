"""Legacy DFU packages made by adafruit-nrfutil, but of version 0.8: it cannot sign on Python 3."""
import pathlib
import random
import sys
import types

from nordicsemi.dfu import manifest
from nordicsemi.dfu.package import Package

# Its manifest of version 0.7 has bytes where JSON wants text.
manifest.binascii = types.SimpleNamespace(hexlify=lambda octets: octets.hex())

WORK, OUT = map(pathlib.Path, sys.argv[1:3])


def firmware(name: str, size: int) -> str:
    path = WORK / f"{name}.bin"
    path.write_bytes(random.Random(size).randbytes(size))
    return str(path)


def main() -> None:
    app, sd, bl = firmware("app", 500), firmware("sd", 320), firmware("bl", 260)
    common = {"dev_type": 0x52, "dev_rev": 3, "app_version": 9, "sd_req": [0x64, 0xFFFE]}
    for version in [0.5, 0.6, 0.7]:
        Package(**common, dfu_ver=version, app_fw=app).generate_package(
            str(OUT / f"legacy-{version}.zip"))
    Package(**common, app_fw=app, softdevice_fw=sd, bootloader_fw=bl).generate_package(
        str(OUT / "legacy-everything.zip"))


main()
