"""A runner for `west flash`: updates the board over Bluetooth LE with otaflash.

    west flash -r otaflash --device name:door-01

Zephyr loads this file because of `runners` in zephyr/module.yml; zephyr/CMakeLists.txt adds the runner to the build.
"""
import os
import shlex
from pathlib import Path

from runners.core import RunnerCaps, ZephyrBinaryRunner


class OtaflashBinaryRunner(ZephyrBinaryRunner):
    """Sends the signed image of a build to a device, and verifies that it runs."""

    def __init__(self, cfg, device, image, program, options):
        super().__init__(cfg)
        self.device = device
        self.image = image
        self.program = program
        self.options = options

    @classmethod
    def name(cls):
        return "otaflash"

    @classmethod
    def capabilities(cls):
        return RunnerCaps(commands={"flash"}, dev_id=False, flash_addr=False, erase=False)

    @classmethod
    def do_add_parser(cls, parser):
        parser.add_argument(
            "--device", default=os.environ.get("OTAFLASH_DEVICE", "last"),
            help="the device: name:REGEX, an address, an alias, sim:PROFILE, or last (default: OTAFLASH_DEVICE, or last)")
        parser.add_argument("--image", help="the image (default: the signed image of the build)")
        parser.add_argument("--otaflash", default="otaflash", help="the program")
        parser.add_argument(
            "--otaflash-options", default="", metavar="OPTIONS", help="options of `otaflash flash`, in shell syntax")

    @classmethod
    def do_create(cls, cfg, args):
        image = args.image or cls.signed_image(cfg)
        return cls(cfg, args.device, image, args.otaflash, shlex.split(args.otaflash_options))

    @staticmethod
    def signed_image(cfg):
        """Returns the image that MCUboot accepts: the signed binary of the build."""
        named = cfg.bin_file
        folder = Path(named).parent if named else Path(cfg.build_dir) / "zephyr"
        for candidate in (named, folder / "zephyr.signed.bin"):
            if candidate and str(candidate).endswith(".signed.bin") and Path(candidate).is_file():
                return str(candidate)
        raise RuntimeError(
            f"the build has no signed image in {folder}: enable CONFIG_BOOTLOADER_MCUBOOT, or name one with --image")

    def do_run(self, command, **kwargs):
        self.require(self.program)
        self.check_call([self.program, "flash", "--device", self.device, *self.options, "--", self.image])
