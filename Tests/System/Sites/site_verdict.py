"""The comparison of a run's event log with the logs of the boards."""

import contextlib
import dataclasses
import json
import pathlib
import shutil
import sqlite3
import tempfile
import typing

Board = dict[str, typing.Any]


class Event(typing.NamedTuple):
    """An event of a run. `at` is the wall clock time in milliseconds."""

    name: str
    fields: dict[str, typing.Any]
    at: int


SUCCEEDED = "succeeded"
# The count of a wave to which each outcome of a device belongs. Every other outcome is a violation, for example
# an unexpected fault on the host.
COUNTS = {"updated": SUCCEEDED, "current": SUCCEEDED, "failed": "failed", "quarantined": "failed", "absent": "absent"}


# A gateway writes for 30 s after the start of its last renewal, and the lease lasts 45 s.
SILENCE = 15.0


@dataclasses.dataclass
class Verdict:
    """The end states, and the violations of what must hold."""

    ends: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    violations: list[str] = dataclasses.field(default_factory=list)
    taken_over: int = 0  # connections that started while an earlier one of another gateway was open
    resumed: int = 0
    sent_again: int = 0  # bytes
    lost_images: int = 0  # complete images that a device lost
    late_writes: int = 0
    early_claims: int = 0  # connections before the lease of an earlier gateway can have expired


def events(state: pathlib.Path) -> list[Event]:
    """The events of all runs in the first event log of a state directory. The function reads a copy, in which an
    incomplete transaction is rolled back, as by the next process."""
    for store in state.rglob("*.sqlite"):
        with tempfile.TemporaryDirectory() as folder:
            for path in store.parent.glob(f"{store.name}*"):
                shutil.copy(path, folder)
            with contextlib.closing(sqlite3.connect(pathlib.Path(folder) / store.name)) as connection:
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'event'").fetchone():
                    continue
                rows = connection.execute("SELECT payload, at FROM event ORDER BY run, number").fetchall()
        found = []
        for payload, at in rows:
            name, fields = next(iter(json.loads(payload).items()))
            found.append(Event(name, fields, at))
        return found
    return []


def outcomes(log: list[Event]) -> dict[str, str]:
    """The final outcome by device."""
    found = {}
    for name, fields, _ in log:
        if name == "deviceSettled":
            ending = fields["ending"]
            found[fields["device"]] = next(iter(ending)) if isinstance(ending, dict) else ending
        elif name == "deviceRetried":
            found.pop(fields["device"], None)
    return found


def judge(
    log: list[Event], boards: list[Board], checksum: int, gateways: dict[int, str],
    killed: set[int],
) -> Verdict:  # fmt: skip
    """Checks the event log and the boards. `gateways` maps processes to the names of their gateways;
    `killed` contains the killed processes."""
    verdict = Verdict()
    endings = [next(iter(fields.values())) for name, fields, _ in log if name == "runEnded"]
    if len(endings) != 1 or "complete" not in endings[0]:
        verdict.violations.append(f"the run did not complete: {endings}")
    settled = outcomes(log)
    for board in boards:
        judge_end(board, settled.get(f"unix:{board['path']}", "nothing"), checksum, verdict)
        judge_writers(board, gateways, killed, verdict)
        judge_passes(board, verdict)
    return verdict


def judge_end(board: Board, outcome: str, checksum: int, verdict: Verdict) -> None:
    """Checks that the outcome in the event log agrees with the state of the board."""
    count = COUNTS.get(outcome, outcome)
    verdict.ends[board["board"]] = (count, board["runs"])
    if count not in (SUCCEEDED, "failed", "absent"):
        verdict.violations.append(f"{board['board']}: the outcome is {outcome}")
    runs_image = board["checksum"] == checksum
    # A board that does not return cannot report its state.
    if (count == SUCCEEDED) != runs_image and not (board["fate"] == "bricks" and count == "failed"):
        verdict.violations.append(f"{board['board']} ({board['fate']}): {outcome}, but it runs {board['runs']}")
    expected = {"good": SUCCEEDED, "away": "absent"}.get(board["fate"], "failed")
    if count != expected:
        verdict.violations.append(f"{board['board']} ({board['fate']}): {outcome} instead of {expected}")


def judge_writers(board: Board, gateways: dict[int, str], killed: set[int], verdict: Verdict) -> None:
    """Checks that a host that lost a board sends no more PDUs to the board, and that another host connects only
    after it can rely on this."""
    connections = board["log"]["connections"]
    for late in board["log"]["lateWrites"]:
        former, newer = connections[late["connection"] - 1], connections[late["newer"] - 1]
        verdict.late_writes += 1
        verdict.violations.append(
            f"{board['board']}: {gateways.get(former['process'])} sent PDU 0x{late['opcode']:02x} "
            f"{late['time'] - newer['firstWrite']:.2f} s after the first write of {gateways.get(newer['process'])}"
        )
    for former, later in zip(connections, connections[1:]):
        if gateways.get(former["process"]) == gateways.get(later["process"]):
            continue
        is_open = former.get("end") is None or former["end"] > later["start"]
        verdict.taken_over += is_open
        written = former.get("lastWrite", former["start"])
        if (is_open or former["process"] in killed) and later["start"] < written + SILENCE:
            verdict.early_claims += 1
            verdict.violations.append(
                f"{board['board']}: {gateways.get(later['process'])} connected {later['start'] - written:.2f} s after "
                f"the last write of {gateways.get(former['process'])}, which had not returned the device"
            )


def judge_passes(board: Board, verdict: Verdict) -> None:
    """Checks that a board receives the image again from its start only if the board lost it, and that the board
    violated no rule of flash."""
    log = board["log"]
    verdict.resumed += len(log["resumes"])
    first = next((entry for entry in log["passes"] if entry.get("end")), None)
    verdict.sent_again += max(0, log["bytes"] - log["imageSize"]) if first else 0
    for number, entry in enumerate(log["passes"]):
        if number and entry["cause"] == "deviceLostIt" and log["passes"][number - 1].get("end"):
            verdict.lost_images += 1
        if entry["cause"] == "alreadyRunning":
            verdict.violations.append(f"{board['board']}: the image was sent although it runs")
        if entry["cause"] == "hostDiscardedIt" and entry["heldBefore"]:
            verdict.violations.append(
                f"{board['board']}: the transfer started again although the device held {entry['heldBefore']} bytes"
            )
    if board["flashFaults"]:
        verdict.violations.append(f"{board['board']}: {board['flashFaults']} violations of the rules of flash")
