"""Device Manager packages of imgtool's images, and hostile archives."""
import io
import pathlib
import struct
import sys
import zipfile

HERE = pathlib.Path(sys.argv[1])
SIGNED = (HERE / "MCUboot/ed25519.bin").read_bytes()
DATE = (2026, 11, 21, 12, 0, 0)

# The manifest has the format of nRF Connect SDK's build system: numbers are strings, and a load address
# is not valid JSON.
MANIFEST = """{
    "format-version": 1,
    "time": 1763726400,
    "files": [
        {
            "type": "application",
            "board": "nrf5340dk/nrf5340/cpuapp",
            "soc": "nrf5340",
            "load_address": 0xc000,
            "image_index": "0",
            "slot_index_primary": "1",
            "slot_index_secondary": "2",
            "version_MCUBOOT": "1.2.3+4",
            "size": %d,
            "file": "app.signed.bin",
            "modtime": 1763726400
        },
        {
            "type": "application",
            "board": "nrf5340dk/nrf5340/cpunet",
            "soc": "nrf5340",
            "load_address": 0x01008800,
            "image_index": "1",
            "version_MCUBOOT": "1.2.3+4",
            "size": %d,
            "file": "net.signed.bin",
            "modtime": 1763726400
        }
    ],
    "name": "door"
}
"""


def archive(path: str, files: list, method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(HERE / path, "w", method) as target:
        for name, content in files:
            target.writestr(zipfile.ZipInfo(name, DATE), content, method)


def bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(zipfile.ZipInfo("zeros.bin", DATE), bytes(8 << 20), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def lying(content: bytes) -> bytes:
    """Returns the same archive with an uncompressed size of 1000 in both headers."""
    content = bytearray(content)
    struct.pack_into("<I", content, 22, 1000)
    struct.pack_into("<I", content, content.index(b"PK\x01\x02") + 24, 1000)
    return bytes(content)


def main() -> None:
    manifest = MANIFEST % (len(SIGNED), len(SIGNED))
    files = [("manifest.json", manifest), ("app.signed.bin", SIGNED), ("net.signed.bin", SIGNED)]
    archive("DeviceManager/two-images.zip", files)
    one = manifest[:manifest.index("        },\n        {")] + "        }\n    ]\n}\n"
    archive("DeviceManager/one-image.zip", [("manifest.json", one), files[1]], zipfile.ZIP_STORED)
    (HERE / "Hostile/bomb.zip").write_bytes(bomb())
    (HERE / "Hostile/lying-bomb.zip").write_bytes(lying(bomb()))


main()
