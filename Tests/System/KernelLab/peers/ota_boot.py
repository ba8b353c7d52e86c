"""A bootloader that runs a new image on trial, and keeps the previous image until the new image is confirmed.

Its memory is a directory: `boot.json` is its state, `image` the running image, `image.before` the previous
image, `flash` the cells that the receiver writes.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from pathlib import Path

from ota_flash import ERASED
from ota_protocol import (
    BootOutcome,
    Running,
)
from ota_record import Offer

FACTORY_VERSION = bytes([1, 2, 0, 0])  # 1.2.0
FACTORY_IMAGE = b"factory " * 125


class BootLoader:
    def __init__(self, directory: Path, flash_size: int, slot: int):
        """Loads the state of a previous run, or creates a device in its factory state."""
        self._image = directory / "image"
        self._image_before = directory / "image.before"
        self._memory_path = directory / "boot.json"
        self._slot = slot
        directory.mkdir(exist_ok=True)
        self.cells = self._flash_file(directory / "flash", flash_size)
        if self._memory_path.exists():
            self._memory = json.loads(self._memory_path.read_text())
            return
        self._image.write_bytes(FACTORY_IMAGE)
        factory = Offer(len(FACTORY_IMAGE), zlib.crc32(FACTORY_IMAGE), FACTORY_VERSION, 0)
        self._memory = {"running": self._entry(factory), "before": None, "activated": None}
        self._remember()

    def boot(self) -> Running:
        """Starts an activated image, or reverts an unconfirmed image."""
        memory, outcome = self._memory, BootOutcome.NORMAL
        if memory["activated"]:
            outcome = (
                BootOutcome.ACTIVATED if self._take_up(memory["activated"]) else BootOutcome.REVERTED
            )
            memory["activated"] = None
        elif memory["before"]:
            os.replace(self._image_before, self._image)
            memory["running"], memory["before"] = memory["before"], None
            outcome = BootOutcome.REVERTED
        self._remember()
        running = memory["running"]
        version = bytes.fromhex(running["version"])
        return Running(version, running["size"], running["crc"], outcome, trial=bool(memory["before"]))

    def activate(self, offer: Offer) -> None:
        """Selects the image in the slot for the next boot."""
        self._memory["activated"] = self._entry(offer)
        self._remember()

    def confirm(self) -> None:
        self._memory["before"] = None
        self._remember()
        self._image_before.unlink(missing_ok=True)

    def _take_up(self, activated: dict) -> bool:
        image = self.cells[self._slot : self._slot + activated["size"]]
        if zlib.crc32(image) != activated["crc"]:
            return False
        os.replace(self._image, self._image_before)
        self._image.write_bytes(image)
        self._memory["before"], self._memory["running"] = self._memory["running"], activated
        return True

    @staticmethod
    def _flash_file(path: Path, size: int) -> mmap.mmap:
        """The cells, in a file that survives a kill of the process."""
        if not path.exists():
            path.write_bytes(bytes([ERASED]) * size)
        with path.open("r+b") as file:
            return mmap.mmap(file.fileno(), size)

    @staticmethod
    def _entry(offer: Offer) -> dict:
        return {"version": offer.version.hex(), "size": offer.size, "crc": offer.crc}

    def _remember(self) -> None:
        new = self._memory_path.with_suffix(".new")
        new.write_text(json.dumps(self._memory))
        os.replace(new, self._memory_path)
