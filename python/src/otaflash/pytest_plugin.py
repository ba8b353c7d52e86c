"""A plugin for pytest: the fixture `otaflash_board` is the name of a simulated board that no other test uses.

    def test_update(otaflash_board):
        assert otaflash.flash("app.bin", otaflash_board).verified

    @pytest.mark.otaflash_board("smp?loss=1%&seed=7")
    def test_lossy_link(otaflash_board): ...

    @pytest.mark.otaflash_board("fast", unix=True)
    def test_a_process_that_holds_the_board(otaflash_board): ...
"""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Iterator

import pytest

from .program import find_program

#: The default: a board of the OTA service whose flash has no delays.
PROFILE = "fast"
#: Seconds in which a simulated board starts or stops.
LIMIT = 20.0


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "otaflash_board(profile='fast', unix=False): the simulated board of the fixture otaflash_board; with unix=True "
        "it is a separate process on a socket")


@pytest.fixture
def otaflash_board(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The device string of a new simulated board. Its flash, and the state of otaflash, are deleted after the test."""
    marker = request.node.get_closest_marker("otaflash_board")
    profile: str = marker.args[0] if marker and marker.args else PROFILE
    # The path of a socket has at most 107 bytes, so pytest's own temporary folders are too long.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="otaflash-"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    try:
        if marker and marker.kwargs.get("unix"):
            yield from _process(profile, folder)
        else:
            yield f"sim:{profile}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _process(profile: str, folder: pathlib.Path) -> Iterator[str]:
    socket = folder / "board.sock"
    with open(folder / "board.log", "w+b") as log:
        board = subprocess.Popen(
            [find_program(), "simulate", "--profile", profile, "--listen", str(socket), "--flash-file",
             str(folder / "board.flash")], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(os.environ))
        try:
            end = time.monotonic() + LIMIT
            while not socket.exists():
                if board.poll() is not None or time.monotonic() > end:
                    log.seek(0)
                    text = log.read().decode("utf-8", "replace")
                    raise RuntimeError(f"the simulated board {profile!r} did not start: {text}")
                time.sleep(0.02)
            yield f"unix:{socket}"
        finally:
            board.send_signal(signal.SIGTERM)
            try:
                board.wait(LIMIT)
            except subprocess.TimeoutExpired:
                board.kill()
                board.wait()
