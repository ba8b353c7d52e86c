"""Images signed by imgtool with every algorithm, and their contents as read by imgtool (dumpinfo.json)."""
import json
import pathlib
import random
import subprocess
import sys

from imgtool import dumpinfo
from imgtool import main as imgtool_main

WORK, OUT = map(pathlib.Path, sys.argv[1:3])
KEYS = ["rsa-2048", "rsa-3072", "ecdsa-p256", "ecdsa-p384", "ed25519"]
IMGTOOL = [sys.executable, "-c", "from imgtool.main import imgtool; imgtool()"]


def imgtool(*words) -> None:
    subprocess.run([*IMGTOOL, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def sign(name: str, *words, header: int = 32, slot: int = 0x4000, suffix: str = "bin") -> None:
    imgtool("sign", "--header-size", header, "--pad-header", "--slot-size", slot,
            *(() if "--version" in words else ("--version", "1.2.3+4")), *words, WORK / "body.bin",
            OUT / f"{name}.{suffix}")


def main() -> None:
    assert imgtool_main.imgtool_version == "2.5.0"
    (WORK / "body.bin").write_bytes(random.Random(1).randbytes(300))
    for key in KEYS:
        imgtool("keygen", "--type", key, "--key", WORK / f"{key}.pem")
        imgtool("getpub", "--encoding", "pem", "--key", WORK / f"{key}.pem", "--output",
                OUT / f"{key}.pub.pem")
        sign(key, "--key", WORK / f"{key}.pem")
    ed25519 = WORK / "ed25519.pem"
    sign("ed25519-pure", "--key", ed25519, "--pure")
    sign("ed25519-sha512", "--key", ed25519, "--sha", "512")
    sign("ecdsa-p256-padded", "--key", WORK / "ecdsa-p256.pem", "--pad-sig")
    sign("ed25519", "--key", ed25519, "--hex-addr", str(0x10000), suffix="hex")
    sign("full-public-key", "--key", ed25519, "--public-key-format", "full")
    sign("unsigned")
    sign("every-entry", "--key", ed25519, "--version", "255.254.65535+4294967295",
         "--dependencies", "(1, 2.3.4+5), (2, 0.9.0)", "--security-counter", "7", "--boot-record",
         "APP", "--vid", "example.com", "--cid", "door", "--custom-tlv", "0x00a5", "0x01020304",
         "--load-addr", str(0x20000000), header=512)
    sign("confirmed", "--key", ed25519, "--pad", "--confirm", "--max-sectors", "4", slot=0x800)
    sign("test-aligned-32", "--key", ed25519, "--pad", "--test", "--max-sectors", "4",
         "--max-align", "32", "--align", "32", slot=0xC00)
    imgtool("keygen", "--type", "x25519", "--key", WORK / "x25519.pem")
    sign("encrypted", "--key", ed25519, "--encrypt", WORK / "x25519.pem")
    (OUT / "two-signatures.bin").write_bytes(twice_signed())
    changed = bytearray((OUT / "ed25519.bin").read_bytes())
    changed[100] ^= 1
    (OUT / "changed.bin").write_bytes(changed)
    said = {path.stem: facts(path) for path in sorted(OUT.glob("*.bin"))}
    (OUT / "dumpinfo.json").write_text(json.dumps(said, indent=1) + "\n")


def twice_signed() -> bytes:
    """Returns one image with the entries of two images, which have the same bytes and different keys."""
    first, second = ((OUT / f"{key}.bin").read_bytes() for key in ["rsa-2048", "ed25519"])
    area = 32 + 300
    assert first[:area] == second[:area]
    both = first[area + 4:] + second[area + 4 + 36:]
    return first[:area] + (0x6907).to_bytes(2, "little") + (len(both) + 4).to_bytes(2, "little") + both


def facts(path: pathlib.Path) -> dict:
    """Returns the contents as read by imgtool, with bytes as hexadecimal digits."""
    said = dumpinfo._read_imginfo(str(path))
    entries = lambda key: [[e["type"], bytes(e["data"]).hex()] for e in said["tlv_area"][key]]
    trailer = {k: v for k, v in said["trailer"].items() if k in ("image_ok", "copy_done", "swap_info")}
    return {"header": said["header"], "protected": entries("tlvs_prot"), "entries": entries("tlvs"),
            "trailer": trailer}


main()
