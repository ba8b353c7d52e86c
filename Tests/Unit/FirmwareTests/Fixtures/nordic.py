"""Secure DFU packages created by nrfutil, and their init packets as read by nrfutil (nrfutil.json)."""
import json
import pathlib
import random
import sys
import zipfile

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nordicsemi.dfu import dfu_cc_pb2 as pb
from nordicsemi.dfu.init_packet_pb import SigningTypes
from nordicsemi.dfu.package import Package
from nordicsemi.dfu.signing import Signing

WORK, OUT = map(pathlib.Path, sys.argv[1:3])


def firmware(name: str, size: int) -> str:
    path = WORK / f"{name}.bin"
    path.write_bytes(random.Random(size).randbytes(size))
    return str(path)


def package(name: str, **arguments) -> None:
    Package(**arguments).generate_package(str(OUT / f"{name}.zip"))


def display(name: str) -> dict:
    """Returns each init packet of a package, field by field."""
    said = {}
    with zipfile.ZipFile(OUT / f"{name}.zip") as archive:
        for dat in sorted(n for n in archive.namelist() if n.endswith(".dat")):
            packet = pb.Packet()
            packet.ParseFromString(archive.read(dat))
            signed = packet.HasField("signed_command")
            init = (packet.signed_command.command if signed else packet.command).init
            said[dat] = {
                "fw_version": init.fw_version, "hw_version": init.hw_version,
                "sd_req": list(init.sd_req), "type": init.type, "sd_size": init.sd_size,
                "bl_size": init.bl_size, "app_size": init.app_size, "hash": init.hash.hash.hex(),
                "is_debug": init.is_debug, "boot_validation": [v.type for v in init.boot_validation],
                "signature": packet.signed_command.signature.hex() if signed else None,
            }
    return said


def sign_with_ed25519(source: str, target: str) -> None:
    """Signs a package with Ed25519: nrfutil signs only with ECDSA, but the packet format also supports Ed25519."""
    key = Ed25519PrivateKey.generate()
    (OUT / "ed25519.pub.pem").write_bytes(key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    with zipfile.ZipFile(OUT / source) as old, zipfile.ZipFile(OUT / target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith(".dat"):
                packet = pb.Packet()
                packet.ParseFromString(content)
                command = packet.command
                signed = pb.Packet()
                signed.signed_command.command.CopyFrom(command)
                signed.signed_command.signature_type = pb.ED25519
                signed.signed_command.signature = key.sign(command.init.SerializeToString())
                content = signed.SerializeToString()
            new.writestr(name, content)


def main() -> None:
    key = WORK / "nordic.pem"
    signer = Signing()
    signer.gen_key(str(key))
    signer.load_key(str(key))
    pem = signer.get_vk("pem", False)
    (OUT / "ecdsa-p256.pub.pem").write_text(pem)
    app, sd, bl = firmware("app", 500), firmware("sd", 320), firmware("bl", 260)
    package("app-signed", app_version=7, hw_version=52, sd_id=[0x0100, 0x0123], app_fw=app,
            signer=signer)
    package("app-unsigned", app_version=7, hw_version=52, sd_id=[0], app_fw=app)
    package("app-debug", debug_mode=True, app_version=7, hw_version=52, sd_id=[0xFFFE], app_fw=app,
            signer=signer)
    package("everything", app_version=7, bl_version=3, hw_version=52, sd_req=[0x0100], sd_id=[0x0123],
            app_fw=app, softdevice_fw=sd, bootloader_fw=bl, signer=signer)
    package("bootloader", bl_version=3, hw_version=52, sd_req=[0x0100], bootloader_fw=bl,
            signer=signer)
    sign_with_ed25519("app-unsigned.zip", "app-ed25519.zip")
    names = sorted(path.stem for path in OUT.glob("*.zip") if not path.stem.startswith("legacy"))
    said = {name: display(name) for name in names}
    (OUT / "nrfutil.json").write_text(json.dumps(said, indent=1) + "\n")


main()
