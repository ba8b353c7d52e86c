#!/usr/bin/env python3
"""A user at a terminal: runs otaflash in a pseudo-terminal, presses keys after expected output, and checks
the state of the terminal at the end.

usage: keyboard.py OTAFLASH [SCENE ...]     all scenes by default
Exit 0: all scenes ended as required. No scene depends on the speed of the machine: each step waits for
output, at most for the time limit of a program.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PATIENCE = 120.0
IMAGE = "firmware-samples/app-1.3.0.bin"
CHOICE = ["flash", IMAGE, "--dry-run", "--adapter", "sim:2"]


class Screen:
    """One run of the program, its terminal, and its output so far."""

    def __init__(self, program: str, words: list[str], home: str, columns: int = 80, **environment: str):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        inherited = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("OTAFLASH_")}
        self.process = subprocess.Popen(
            [program, *words], stdin=self.slave, stdout=self.slave, stderr=self.slave,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env=inherited | {"XDG_STATE_HOME": home, "XDG_RUNTIME_DIR": home, "TERM": "xterm",
                             "LANG": "C.UTF-8"} | environment)
        self.shown = ""
        self.words = words

    def wait(self, text: str) -> "Screen":
        """Waits until `text` is shown after the text of the previous wait."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown:
            if not self.read(deadline - time.monotonic()):
                raise AssertionError(f"{self.words} never showed {text!r}, but: {self.shown[-500:]!r}")
        self.shown = self.shown[self.shown.index(text) + len(text):]
        return self

    def read(self, seconds: float) -> bool:
        if seconds <= 0 or not select.select([self.master], [], [], seconds)[0]:
            return False
        part = os.read(self.master, 65536)
        self.shown += part.decode(errors="replace")
        return bool(part)

    def press(self, keys: str) -> "Screen":
        os.write(self.master, keys.encode())
        return self

    def end(self, status: int) -> str:
        """Waits for the end of the program, which must have the given status (negative: a signal) and leave
        the terminal unchanged."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read(0.05)
        while self.read(0.05):
            pass
        self.process.kill()
        found = self.process.wait()
        after = termios.tcgetattr(self.slave)
        os.close(self.master)
        os.close(self.slave)
        assert found == status, f"{self.words} ended with {found}, not {status}: {self.shown[-500:]!r}"
        assert after == self.before, f"{self.words} left the terminal changed: {self.before} {after}"
        return self.shown


def choice(program: str, home: str, *more: str) -> Screen:
    return Screen(program, CHOICE + list(more), home).wait("▸ ").wait("q quit")


def choose(program: str, home: str) -> None:
    """Enter selects a device, and the run continues with that device."""
    choice(program, home).press("j").wait("▸ 2").press("\x1b[A").wait("▸ 1").press("\r").wait(
        "-d 'sim:plain?seed=1'").wait("ready to flash").end(0)
    # The next run offers this device first, before any advertisement is received.
    Screen(program, CHOICE, home).wait("▸ ").wait("sim:plain?seed=1").press("q").end(64)


def leave(program: str, home: str) -> None:
    for key in ["q", "\x1b", "\x04"]:
        assert "E-USAGE" in choice(program, home).press(key).end(64)
    plain = Screen(program, CHOICE, home, NO_COLOR="1").wait("▸ ").press("q")
    assert "\x1b[1m" not in plain.shown + plain.end(64)


def die(program: str, home: str) -> None:
    """Signals: from the keyboard, from another process, and from a crash."""
    choice(program, home).press("\x03").end(-signal.SIGINT)
    for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT]:
        screen = choice(program, home)
        screen.process.send_signal(number)
        screen.end(-number)


def watch(program: str, home: str) -> None:
    """The table of a scan; the hidden cursor is shown again."""
    scan = Screen(program, ["scan", "--watch", "--adapter", "sim:3"], home, columns=60)
    assert "\x1b[?25h" in scan.wait("\x1b[?25l").wait("3 devices found").press("q").end(0)
    # Enter starts the update; Ctrl-C stops it at a safe point.
    flash = Screen(program, ["scan", "--watch", IMAGE, "--adapter", "sim:1"], home)
    flash.wait("▸ 1").press("\n").wait("flash " + IMAGE).wait("upload").press("\x03").end(-signal.SIGINT)


def script(program: str, home: str) -> None:
    """Without a terminal for the answer no question is asked; the bell sounds if requested."""
    ways = [({}, [word]) for word in ["--no-input", "--quiet", "--json"]]
    for environment, words in ways + [({"TERM": "dumb"}, []), ({"CI": "true"}, [])]:
        shown = Screen(program, CHOICE + ["--timeout", "300ms"] + words, home, **environment).end(64)
        assert "sim:plain?seed=1" in shown and "▸" not in shown, shown
    words = ["flash", IMAGE, "-d", "sim:plain?seed=9", "--dry-run"]
    assert "\x07" in Screen(program, words + ["--notify"], home).end(0)
    assert "\x07" not in Screen(program, words, home).end(0)


def default_signals() -> None:
    """Restores the default handling of signals: a test runner may block or ignore signals, and its children
    inherit these settings."""
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    for number in [signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGHUP]:
        signal.signal(number, signal.SIG_DFL)


if __name__ == "__main__":
    default_signals()
    scenes = {scene.__name__: scene for scene in [choose, leave, die, watch, script]}
    for name in sys.argv[2:] or scenes:
        with tempfile.TemporaryDirectory() as home:
            scenes[name](sys.argv[1], home)
