"""One observed run of the program: its end, its output, and its use of resources."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

LOOK_SECONDS = 0.05
EXIT_CODES = {0, 5, 6, 69, 74, 75, 76, 77}
MEMORY_MAXIMUM_KB = 100 * 1024
DESCRIPTORS_MAXIMUM = 32
LAST_WORDS = ("Fatal error", "Crash", "Thread 0", "Illegal instruction")


def descriptors(pid: int) -> int:
    """Returns the number of open descriptors of a process; 0 if it has ended."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def resident_kb(pid: int) -> int:
    """Returns the resident memory of a process; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except (OSError, IndexError):
        return 0


@dataclass
class Run:
    """The result of a run of a command."""

    command: list[str]
    seconds: float
    code: int
    memory_kb: int
    descriptors: int
    output: str
    errors: str
    complaints: list[str] = field(default_factory=list)

    @property
    def outcome(self) -> str | None:
        results = [line for line in self._events() if line.get("type") == "result"]
        return results[-1].get("outcome") if results else None

    def _events(self) -> list[dict]:
        return [json.loads(line) for line in self.output.splitlines()]

    def judge(self) -> None:
        """Records errors that do not depend on the device."""
        say = self.complaints.append
        if self.code not in EXIT_CODES:
            say(f"it ended with {self.code}")
        if any(words in self.errors for words in LAST_WORDS):
            say("it crashed")
        if self.memory_kb > MEMORY_MAXIMUM_KB:
            say(f"it used {self.memory_kb} kB")
        if self.descriptors > DESCRIPTORS_MAXIMUM:
            say(f"it had {self.descriptors} open descriptors")
        try:
            events = self._events()
        except json.JSONDecodeError:
            return say("it wrote a line that is not JSON")
        kinds = [event.get("type") for event in events]
        if not kinds or kinds[0] != "hello" or kinds.count("result") != 1 or kinds[-1] != "result":
            return say(f"its stream starts and ends with {kinds[:1]} and {kinds[-1:]}")
        if [event.get("seq") for event in events] != list(range(len(events))):
            say("its sequence numbers have gaps")
        if events[-1]["exit"] != self.code:
            say(f"its result says {events[-1]['exit']}, it ended with {self.code}")


def run(command: list[str], home: Path, limit: float) -> Run:
    """Runs a command; if it does not end within the limit, it is killed and a complaint recorded."""
    environment = {**os.environ, "XDG_STATE_HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    environment["SWIFT_BACKTRACE"] = "enable=no"
    began, most = time.monotonic(), 0
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors
        )
        hung = False
        ended: list = []
        waiter = threading.Thread(target=lambda: ended.append(os.wait4(process.pid, 0)))
        waiter.start()
        while waiter.is_alive():
            most = max(most, descriptors(process.pid))
            if not hung and time.monotonic() - began > limit:
                hung = True
                os.kill(process.pid, signal.SIGKILL)
            waiter.join(LOOK_SECONDS)
        _, status, usage = ended[0]
        process.returncode = code = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        seen = Run(
            command, time.monotonic() - began, code, usage.ru_maxrss, most,
            output.read(), errors.read(),
        )
    if hung:
        seen.complaints.append(f"it did not end within {limit:.0f} s")
    else:
        seen.judge()
    return seen
