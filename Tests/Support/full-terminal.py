#!/usr/bin/env python3
"""A terminal that accepts no more bytes, as after a lost connection: signals still end otaflash, and a
campaign continues.

usage: full-terminal.py OTAFLASH [SCENE ...]     all scenes by default
Exit 0: every scene ended as required. A scene waits for an event, at most for keyboard.PATIENCE.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import keyboard
from keyboard import IMAGE, PATIENCE, Screen

CAMPAIGN = f"""\
campaign: full
image: {os.path.abspath("firmware-samples/app-1.3.0.bin")}
devices: ["sim-fleet:10?speed=10"]
flash: {{mode: without-response, allow-downgrade: true}}
"""


def fill(screen: Screen) -> None:
    """Fills the terminal through a separate descriptor until it accepts no more bytes. The program also
    writes, so the terminal must stay full for a while."""
    own = os.open(os.ttyname(screen.slave), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    refused = 0
    while refused < 20:
        try:
            os.write(own, b"x")
            refused = 0
        except BlockingIOError:
            refused += 1
            time.sleep(0.01)
    os.close(own)


def dies(screen: Screen, number: int) -> None:
    """The signal ends the program although no byte is read from the terminal."""
    fill(screen)
    start = time.monotonic()
    screen.process.send_signal(number)
    try:
        screen.process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        screen.process.kill()
        raise AssertionError(f"{screen.words} outlived signal {number} for {PATIENCE} s") from None
    # Two seconds, plus the delay of a loaded machine.
    waited = time.monotonic() - start
    assert waited < 3 or os.getloadavg()[0] > (os.cpu_count() or 1), f"{screen.words}: {waited:.1f} s"
    print(f"{' '.join(screen.words)}: ended by signal {number} after {time.monotonic() - start:.1f} s")
    screen.end(-number)


def campaign(home: str) -> str:
    path = os.path.join(home, "c.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CAMPAIGN)
    return path


def scan(program: str, home: str) -> None:
    for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]:
        dies(Screen(program, ["scan", "--watch", "--adapter", "sim:3"], home).wait("3 devices"), number)


def chooser(program: str, home: str) -> None:
    dies(keyboard.choice(program, home), signal.SIGTERM)


def flash(program: str, home: str) -> None:
    words = ["flash", IMAGE, "-d", "sim:", "--mode", "with-response", "--delta", "never"]
    dies(Screen(program, words, home).wait("upload"), signal.SIGTERM)


def fleet(program: str, home: str) -> None:
    dies(Screen(program, ["fleet", "run", campaign(home)], home).wait("wave 1"), signal.SIGTERM)


def complete(program: str, home: str) -> None:
    """A campaign ends as if its terminal was read, and shows its result as soon as the terminal is read."""
    run = Screen(program, ["fleet", "run", campaign(home)], home).wait("wave 1")
    fill(run)
    deadline = time.monotonic() + PATIENCE
    state = ""
    while state != "complete" and time.monotonic() < deadline:
        found = subprocess.run(
            [program, "fleet", "list", "--json"], stdout=subprocess.PIPE, check=False,
            env=os.environ | {"XDG_STATE_HOME": home, "XDG_RUNTIME_DIR": home}).stdout
        events = [json.loads(line) for line in found.splitlines()]
        state = next((event["state"] for event in events if event["type"] == "fleet_kept"), state)
    assert state == "complete", f"the run is {state!r} after {PATIENCE} s"
    print(f"fleet run: {state} while its terminal accepted nothing")
    run.wait("10 devices")
    run.end(0)


def main_call(process: int) -> str:
    """Returns the number of the system call in which the main thread waits; "running" outside of one."""
    with open(f"/proc/{process}/syscall", encoding="ascii") as file:
        return file.read().split()[0]


def wakings(process: int) -> int:
    """Returns the number of times that the threads of a process have started to sleep so far."""
    folder = f"/proc/{process}/task"
    count = 0
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/status", encoding="ascii") as file:
            count += next(int(line.split()[1]) for line in file if line.startswith("voluntary"))
    return count


def asleep(program: str, home: str) -> None:
    """A command that only has output left sleeps while it waits for the terminal: no thread polls."""
    run = Screen(program, ["scan", "--adapter", "sim:100", "--timeout", "2s"], home).wait("scanning")
    number = run.process.pid
    idle = {main_call(number), "running"}
    fill(run)
    deadline = time.monotonic() + PATIENCE
    before, equal = 0, 0
    while equal < 30:
        assert time.monotonic() < deadline, "a thread wakes up repeatedly"
        count = wakings(number)
        equal = equal + 1 if count == before and main_call(number) not in idle else 0
        before = count
        time.sleep(0.01)
    print("scan: asleep while its result waited for the terminal")
    run.end(0)


if __name__ == "__main__":
    keyboard.default_signals()
    scenes = {scene.__name__: scene for scene in [scan, chooser, flash, fleet, complete, asleep]}
    for name in sys.argv[2:] or scenes:
        with tempfile.TemporaryDirectory() as home:
            scenes[name](sys.argv[1], home)
