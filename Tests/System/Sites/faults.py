#!/usr/bin/env -S python3 -B
"""Runs a campaign over several sites, kills, stops and disconnects its processes, and sets their clocks.

    faults.py [--long] [--seed N] [--server VERSION] PROGRAMS

PROGRAMS is the folder of otaflash-coordinator, otaflash-gateway and site-boards. The boards record
every PDU of every host. At the end, the event log of the coordinator must agree with them:

- every device ends in the state that it reports itself;
- a complete image is sent twice only to a device that lost it;
- no host writes to a device after another host;
- equal seeds lead to equal end states.

Without --server, the same seed runs on both versions of the server, and the end states are compared.
The short form has a tenth of the devices and of the faults of the long form. Exit code 1: a violation;
69: network namespaces are not available. Requires root. Nothing leaves the namespaces that it creates.
"""

import argparse
import collections
import collections.abc
import dataclasses
import functools
import heapq
import itertools
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing
import zlib

from fault_plan import Fault, Kind, Scenario, faults, long, short
from site_processes import Boards, Deployment, Networks, Program, Unavailable
from site_verdict import Board, Verdict, events, judge

ROOT = pathlib.Path(__file__).resolve().parents[3]
SERVERS = ["2.9.10", "2.14.0"]
NOT_AVAILABLE = 69
# The exit codes of a complete run without and with failed devices.
COMPLETE = (0, 3)
TICK = 0.05
IMAGE_VERSION = "1.3.0"


class FaultRun:
    """One campaign, from an empty folder to its verdict."""

    def __init__(self, scenario: Scenario, version: str, programs: pathlib.Path, folder: pathlib.Path) -> None:
        self.scenario, self.version, self.folder = scenario, version, folder
        self.networks = Networks(scenario.gateways)
        image = self.write_image()
        self.checksum = zlib.crc32(image)
        self.boards = Boards(
            programs / "site-boards", folder, scenario.fleet, scenario.cuts, scenario.power_cuts
        )  # fmt: skip
        server = ROOT / ".build" / "nats-servers" / version / "nats-server"
        sites = [scenario.site(number) for number in range(scenario.gateways)]
        self.deployment = Deployment(
            programs, server, folder, self.networks, sites, scenario.parallel, self.write_campaign()
        )
        self.actions: list[tuple[float, int, collections.abc.Callable[[], None]]] = []
        self.numbers = itertools.count()
        # The gateways that are stopped, disconnected or not running.
        self.away: set[int] = set()
        self.stopped: set[int] = set()
        # The times of the faults, and the process that each of them hit.
        self.injected: list[tuple[Kind, float, int]] = []
        self.violations: list[str] = []
        self.took = 0.0

    # Files

    def write_image(self) -> bytes:
        image = random.Random(1).randbytes(self.scenario.image_size)
        (self.folder / "app.bin").write_bytes(image)
        facts = {"version": IMAGE_VERSION, "hardware": "0x0000A001"}
        (self.folder / "app.bin.json").write_text(json.dumps(facts))
        return image

    def write_campaign(self) -> pathlib.Path:
        """Writes the campaign as JSON, which is valid YAML. Faults of the deployment must not count as failures
        of devices, so the campaign permits many attempts."""
        campaign = {
            "campaign": "faults",
            "image": "app.bin",
            "devices": [
                {"id": f"unix:{self.boards.path(number)}", "site": self.scenario.site(number)}
                for number in range(self.scenario.devices)
            ],
            "waves": [{"name": "all", "devices": "rest", "success": "0%", "stop": "100%", "seen": "0%"}],
            "retries": {"link": 3, "same": 2, "first-delay": "500ms", "longest-delay": "2s", "infrastructure": 1000},
            "flash": {"delta": "never"},
        }
        path = self.folder / "campaign.yaml"
        path.write_text(json.dumps(campaign, indent=1))
        return path

    # Running

    def run(self) -> Verdict:
        began = time.monotonic()
        try:
            self.networks.create()
            for gateway, offset in zip(self.deployment.gateways, self.scenario.clocks):
                gateway.set_clock(offset)
            self.deployment.start()
            for fault in faults(self.scenario):
                self.at(time.monotonic() + fault.at, functools.partial(self.inject, fault))
            while not self.is_over():
                self.carry_out()
                self.check_programs()
                time.sleep(TICK)
            self.took = time.monotonic() - began
            self.end_gateways()
            return self.verdict()
        finally:
            self.deployment.end()
            self.boards.end()
            self.networks.remove()

    def at(self, moment: float, action: collections.abc.Callable[[], None]) -> None:
        heapq.heappush(self.actions, (moment, next(self.numbers), action))

    def carry_out(self) -> None:
        while self.actions and self.actions[0][0] <= time.monotonic():
            heapq.heappop(self.actions)[2]()

    def is_over(self) -> bool:
        """Whether the coordinator ended without a kill."""
        coordinator = self.deployment.coordinator
        code = coordinator.exit_code()
        if code is None or coordinator.life.is_killed:
            return False
        if code not in COMPLETE:
            self.violations.append(f"the coordinator ended with {code}:\n{coordinator.tail()}")
        left = sum(self.scenario.counts.values()) - len(self.injected)
        if left:
            self.violations.append(f"the campaign ended before {left} of the faults")
        return True

    def check_programs(self) -> None:
        """Checks that only a fault ended a gateway or the server."""
        if not self.deployment.server.life.is_killed and self.deployment.server.exit_code() is not None:
            raise RuntimeError(f"the server ended:\n{self.deployment.server.tail()}")
        for number, gateway in enumerate(self.deployment.gateways):
            if number not in self.away and (code := gateway.exit_code()) is not None:
                self.violations.append(f"{gateway.name} ended with {code}:\n{gateway.tail()}")
                gateway.start()

    def end_gateways(self) -> None:
        self.finish_stops()
        for gateway in self.deployment.gateways:
            gateway.terminate()
        for gateway in self.deployment.gateways:
            code = gateway.wait()
            # 143 = 128 + SIGTERM.
            if code not in (0, 143, -15):
                self.violations.append(f"{gateway.name} ended with {code} after SIGTERM:\n{gateway.tail()}")

    def finish_stops(self) -> None:
        """Waits for the end of all stops, so that a stopped gateway shows what it would still write, and ends the
        partitions."""
        while self.stopped:
            time.sleep(TICK)
            self.carry_out()
        for number in self.away:
            self.networks.restore(number)

    # Faults

    def inject(self, fault: Fault) -> None:
        match fault.kind:
            case Kind.SERVER:
                self.kill(fault, self.deployment.server)
            case Kind.COORDINATOR:
                self.kill(fault, self.deployment.coordinator)
            case Kind.KILL | Kind.STOP | Kind.PARTITION:
                self.disturb_gateway(fault)
            case Kind.CLOCK:
                gateway = self.deployment.gateways[fault.gateway]
                self.note(fault, gateway.pid)
                gateway.set_clock(fault.clock)

    def note(self, fault: Fault, pid: int) -> None:
        self.injected.append((fault.kind, time.monotonic(), pid))

    def after(self, fault: Fault, action: collections.abc.Callable[[], None]) -> None:
        self.at(time.monotonic() + fault.duration, action)

    def kill(self, fault: Fault, program: Program) -> None:
        if program.life.end is not None:
            # It is not running at the moment.
            self.at(time.monotonic() + 1, lambda: self.inject(fault))
            return
        self.note(fault, program.pid)
        program.kill()
        self.after(fault, program.start)

    def disturb_gateway(self, fault: Fault) -> None:
        number = self.victim(fault)
        if number is None:
            self.at(time.monotonic() + 1, lambda: self.inject(fault))
            return
        gateway = self.deployment.gateways[number]
        self.note(fault, gateway.pid)
        self.away.add(number)
        if fault.kind is Kind.KILL:
            gateway.kill()
            self.after(fault, lambda: self.come_back(number, gateway.start))
        elif fault.kind is Kind.STOP:
            gateway.pause()
            self.stopped.add(number)
            self.after(fault, lambda: self.come_back(number, gateway.proceed))
        else:
            self.networks.cut(number)
            self.after(fault, lambda: self.come_back(number, lambda: self.networks.restore(number)))

    def come_back(self, number: int, action: collections.abc.Callable[[], None]) -> None:
        action()
        self.away.discard(number)
        self.stopped.discard(number)

    def victim(self, fault: Fault) -> int | None:
        """Returns the gateway of the plan, or the next gateway that can be stopped; `None` if no gateway can. One
        gateway of each site must keep running to claim the devices of the other gateways."""
        for step in range(self.scenario.gateways):
            number = (fault.gateway + step) % self.scenario.gateways
            peers = [other for other in range(self.scenario.gateways) if self.is_peer(other, number)]
            if number not in self.away and len(self.away.intersection(peers)) < len(peers):
                return number
        return None

    def is_peer(self, other: int, number: int) -> bool:
        return other != number and self.scenario.site(other) == self.scenario.site(number)

    # The verdict

    def verdict(self) -> Verdict:
        reports = self.boards.report()
        log = events(self.deployment.coordinator.folder / "state")
        names = {life.process.pid: gateway.name for gateway in self.deployment.gateways for life in gateway.lives}
        killed = {pid for kind, _, pid in self.injected if kind is Kind.KILL}
        verdict = judge(log, reports, self.checksum, names, killed)
        verdict.violations = self.violations + verdict.violations
        self.hits = {
            kind: sum(self.hit_transfer(reports, entry) for entry in self.injected if entry[0] is kind) for kind in Kind
        }
        return verdict

    @staticmethod
    def hit_transfer(reports: list[Board], entry: tuple[Kind, float, int]) -> bool:
        """Whether the process was connected to a board at the time of a fault."""
        _, moment, pid = entry
        return any(
            connection["process"] == pid and connection["start"] < moment < connection.get("end", moment + 1)
            for report in reports
            for connection in report["log"]["connections"]
        )

    def row(self, verdict: Verdict) -> list[tuple[str, str]]:
        """The table of the run."""
        injected = collections.Counter(kind for kind, _, _ in self.injected)
        counts = collections.Counter(count for count, _ in verdict.ends.values())
        gateway_faults = (Kind.KILL, Kind.STOP, Kind.PARTITION)
        return [
            ("server, seed", f"{self.version}, {self.scenario.seed}"),
            ("devices, sites, gateways", f"{self.scenario.devices}, {self.scenario.sites}, {self.scenario.gateways}"),
            ("outcomes", ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))),
            *[
                (kind.value, f"{injected[kind]}" + (f" ({self.hits[kind]} in a transfer)" if kind in gateway_faults else ""))
                for kind in Kind
            ],
            ("taken over from a silent gateway", str(verdict.taken_over)),
            ("transfers resumed", str(verdict.resumed)),
            ("bytes sent again", str(verdict.sent_again)),
            ("images that a device lost", str(verdict.lost_images)),
            ("claims before the end of a lease", str(verdict.early_claims)),
            ("late writes", str(verdict.late_writes)),
            ("time", f"{self.took:.0f} s"),
            ("violations", str(len(verdict.violations))),
        ]  # fmt: skip


def print_tables(rows: list[list[tuple[str, str]]]) -> None:
    width = max(len(name) for name, _ in rows[0])
    for lines in zip(*rows):
        print(f"{lines[0][0]:<{width}}  " + "  ".join(f"{value:<28}" for _, value in lines).rstrip())


def run_all(options: argparse.Namespace) -> int:
    scenario = dataclasses.replace((long if options.long else short)(options.seed), **changes(options))
    versions = [options.server] if options.server else SERVERS
    rows, ends, violations = [], [], []
    for version in versions * options.repeat:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="faults-"))
        fault_run = FaultRun(scenario, version, options.programs.resolve(), folder)
        verdict = fault_run.run()
        rows.append(fault_run.row(verdict))
        ends.append(verdict.ends)
        violations += [f"{version}: {words}" for words in verdict.violations]
        if verdict.violations or options.keep:
            print(f"the logs are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    for other in ends[1:]:
        for board, end in ends[0].items():
            if other.get(board) != end:
                violations.append(f"{board}: {end} in one run, {other.get(board)} in another with the same seed")
    print_tables(rows)
    for words in violations[:40]:
        print(words)
    print(f"{len(rows)} campaigns, {len(violations)} violations")
    return 1 if violations else 0


def changes(options: argparse.Namespace) -> dict[str, typing.Any]:
    """The members of the scenario that the command line replaces."""
    names = ("devices", "sites", "span", "erase_ms", "parallel", "stop_seconds")
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", type=pathlib.Path, metavar="PROGRAMS")
    parser.add_argument("--long", action="store_true", help="the complete numbers of faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server", choices=SERVERS, help="one version of the server instead of both")
    parser.add_argument("--keep", action="store_true", help="keep the logs of a run without violations")
    parser.add_argument("--repeat", type=int, default=1, help="runs on each version, with the same seed")
    for name, kind in {
        "devices": int,
        "sites": int,
        "span": float,
        "erase-ms": int,
        "parallel": int,
        "stop-seconds": float,
    }.items():
        parser.add_argument(f"--{name}", type=kind, help=argparse.SUPPRESS)
    options = parser.parse_args()
    # The processes and namespaces are removed even if this process is terminated.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return run_all(options)
    except Unavailable as error:
        print(f"faults: {error}", file=sys.stderr)
        return NOT_AVAILABLE
    except subprocess.CalledProcessError as error:
        sys.exit(f"faults: {error}")


if __name__ == "__main__":
    sys.exit(main())
