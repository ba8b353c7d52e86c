#!/usr/bin/env -S python3 -B
"""Runs one campaign over many simulated devices and gateways, and measures the coordinator.

    scale.py [--devices N] [--gateways N] [--sites N] [--server VERSION] [--cluster] [--pause S] PROGRAMS

PROGRAMS is the folder of otaflash-coordinator and site-gateways. All gateways are in one process, each
with its own connection to the server. The goals for 10,000 devices and 100 gateways: the campaign
completes, the coordinator uses at most 200 MB and one processor, and no device has two writers at a
time. With --cluster, three servers store each message, and `kill -9` ends the leader of the jobs when a
third of the devices are done. The goal: attempts end again within 10 s, and no outcome is lost. The
coordinator starts before the third server, and must wait for it.
Exit code 1: a goal is missed. All traffic is on loopback.
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import typing
import urllib.request

from site_processes import Program, wait_for_server, wait_for_text
from site_verdict import COUNTS, SUCCEEDED, Event, events, outcomes

ROOT = pathlib.Path(__file__).resolve().parents[3]
MEMORY_MAXIMUM = 200  # MB
PROCESSOR_MAXIMUM = 1.0
SAMPLE_INTERVAL = 0.25
IMAGE_SIZE = 4096
# The stream whose leader is killed: the claims and facts of all devices.
JOBS = "KV_STATE"
# The notice of a coordinator that waits for the servers.
NOT_READY = "the servers are not ready"


class Usage:
    """The peak memory and the processor time of a process."""

    def __init__(self, pid: int) -> None:
        self.pid, self.start = pid, time.monotonic()
        self.memory, self.processor, self.elapsed = 0.0, 0.0, 0.0

    def sample(self) -> None:
        """Stores the memory and CPU time of the process; keeps the last sample of a process that has ended."""
        try:
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return
        peak = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
        if peak:
            self.memory = int(peak[0]) * 1024 / 1e6
            self.processor = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            self.elapsed = time.monotonic() - self.start

    @property
    def cores(self) -> float:
        return self.processor / self.elapsed if self.elapsed else 0.0


def free_ports(count: int) -> list[int]:
    """Ports of no socket. The kernel assigns ports from 32768 to connections, which could take them before a server."""
    ports: set[int] = set()
    while len(ports) < count:
        port = random.randrange(20_000, 32_768)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                ports.add(port)
    return list(ports)


def write_campaign(folder: pathlib.Path, devices: int, sites: int) -> pathlib.Path:
    (folder / "app.bin").write_bytes(random.Random(1).randbytes(IMAGE_SIZE))
    (folder / "app.bin.json").write_text(json.dumps({"version": "1.3.0", "hardware": "0x0000A001"}))
    campaign = {
        "campaign": "scale",
        "image": "app.bin",
        "devices": [
            {"id": f"unix:/site-{number % sites + 1}/board-{number // sites + 1:04}", "site": f"site-{number % sites + 1}"}
            for number in range(devices)
        ],
        "waves": [{"name": "all", "devices": "rest"}],
        "flash": {"delta": "never"},
    }  # fmt: skip
    path = folder / "campaign.yaml"
    path.write_text(json.dumps(campaign))
    return path


class Servers:
    """One server, or a cluster of three servers with monitoring ports."""

    def __init__(self, folder: pathlib.Path, version: str, count: int) -> None:
        program = ROOT / ".build" / "nats-servers" / version / "nats-server"
        ports = free_ports(3 * count)
        clients, routes, self.monitors = ports[:count], ports[count : 2 * count], ports[2 * count :]
        self.urls = [f"nats://127.0.0.1:{port}" for port in clients]
        self.programs = []
        for number in range(count):
            name = f"server-{number + 1}"
            text = (
                f'server_name: "{name}"\nlisten: "127.0.0.1:{clients[number]}"\nhttp: "127.0.0.1:{self.monitors[number]}"\n'
                f'max_payload: 8MB\njetstream {{ store_dir: "{folder}/{name}-jetstream" }}\n'
            )
            if count > 1:
                others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
                text += f'cluster {{ name: "scale", listen: "127.0.0.1:{routes[number]}", routes: [{others}] }}\n'
            configuration = folder / f"{name}.conf"
            configuration.write_text(text)
            self.programs.append(Program(name, [str(program), "--config", str(configuration)], folder))

    @staticmethod
    def start(programs: list[Program]) -> None:
        for server in programs:
            server.start()
        for server in programs:
            wait_for_server(server)

    def monitor(self, number: int) -> dict[str, typing.Any]:
        address = f"http://127.0.0.1:{self.monitors[number]}/jsz?streams=1"
        with urllib.request.urlopen(address, timeout=5) as answer:
            return typing.cast(dict[str, typing.Any], json.load(answer))

    def kill_leader(self) -> str:
        """Kills the leader of the jobs, and returns its name."""
        streams = [
            stream
            for number in range(len(self.programs))
            for account in self.monitor(number).get("account_details", [])
            for stream in account["stream_detail"]
        ]
        leader = next(stream["cluster"]["leader"] for stream in streams if stream["name"] == JOBS)
        next(server for server in self.programs if server.name == leader).kill()
        return str(leader)

    def end(self) -> None:
        for server in self.programs:
            if server.life.end is None:
                server.kill()


class Scale:
    """One campaign, from an empty folder to its table."""

    def __init__(self, options: argparse.Namespace, folder: pathlib.Path) -> None:
        self.options, self.folder = options, folder
        self.servers = Servers(folder, options.server, 3 if options.cluster else 1)
        # The wall clock time of the kill in milliseconds; 0: the leader was not killed.
        self.killed = 0
        campaign = write_campaign(folder, options.devices, options.sites)
        self.coordinator = Program(
            "coordinator",
            [
                str(options.programs.resolve() / "otaflash-coordinator"), "serve",
                *(word for url in self.servers.urls for word in ("--nats", url)),
                "--replicas", str(len(self.servers.urls)), "--listen", "127.0.0.1:0", "--run", str(campaign),
            ],
            folder,
        )  # fmt: skip

    def start_gateways(self) -> subprocess.Popen[str]:
        options = self.options
        words = {
            "nats": ",".join(self.servers.urls), "gateways": options.gateways, "sites": options.sites,
            "boards": -(-options.devices // options.sites), "parallel": options.parallel, "speed": options.speed,
        }  # fmt: skip
        command = [word for name, value in words.items() for word in (f"--{name}", str(value))]
        return subprocess.Popen(
            [str(options.programs.resolve() / "site-gateways"), *command, str(self.folder / "app.bin")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self) -> tuple[list[tuple[str, str]], list[str]]:
        first, late = self.servers.programs[:2], self.servers.programs[2:]
        self.servers.start(first)
        self.coordinator.start()
        if late:
            wait_for_text(self.coordinator, NOT_READY)
            self.servers.start(late)
        usage = Usage(self.coordinator.pid)
        gateways = self.start_gateways()
        try:
            while (code := self.coordinator.exit_code()) is None:
                usage.sample()
                if self.options.cluster and not self.killed:
                    self.kill_leader_when_due()
                    time.sleep(1)
                time.sleep(SAMPLE_INTERVAL)
            summary = self.end_gateways(gateways)
        finally:
            if self.coordinator.life.end is None:
                self.coordinator.kill()
            self.servers.end()
            if gateways.poll() is None:
                gateways.kill()
        if code != 0:
            return [], [f"the coordinator ended with {code}:\n{self.coordinator.tail()}"]
        return self.result(usage, summary)

    def kill_leader_when_due(self) -> None:
        if settled_devices(self.coordinator.folder / "state") >= self.options.devices / 3:
            leader = self.servers.kill_leader()
            self.killed = round(time.time() * 1000)
            print(f"killed {leader}, the leader of {JOBS}")

    @staticmethod
    def end_gateways(gateways: subprocess.Popen[str]) -> dict[str, typing.Any]:
        """Returns the last line of the gateways; earlier lines are their failures."""
        output, _ = gateways.communicate(timeout=60)
        lines = output.splitlines()
        for line in lines[:-1]:
            print(line)
        return typing.cast(dict[str, typing.Any], json.loads(lines[-1]))

    def result(self, usage: Usage, summary: dict[str, typing.Any]) -> tuple[list[tuple[str, str]], list[str]]:
        log = events(self.coordinator.folder / "state")
        succeeded = sum(COUNTS.get(outcome) == SUCCEEDED for outcome in outcomes(log).values())
        rate = jobs_per_second(log)
        rows = [
            ("server", self.options.server),
            ("devices, sites, gateways", f"{self.options.devices}, {self.options.sites}, {self.options.gateways}"),
            ("succeeded; boards that run the image", f"{succeeded}; {summary['updated']}"),
            ("devices with several gateways", str(summary["shared"])),
            ("devices with overlapping writers", str(summary["overlaps"])),
            ("time", f"{usage.elapsed:.0f} s"),
            ("jobs per second", f"{rate:.0f}"),
            ("peak memory of the coordinator", f"{usage.memory:.0f} MB"),
            ("processors of the coordinator", f"{usage.cores:.2f}"),
        ]
        checks = {
            f"{succeeded} devices succeeded": succeeded == self.options.devices,
            f"{summary['updated']} boards run the image": summary["updated"] == self.options.devices,
            f"{summary['overlaps']} devices had overlapping writers": not summary["overlaps"],
            f"the coordinator used {usage.memory:.0f} MB": usage.memory <= MEMORY_MAXIMUM,
            f"the coordinator used {usage.cores:.2f} processors": usage.cores <= PROCESSOR_MAXIMUM,
        }
        if self.options.cluster:
            pause = longest_pause(log, self.killed)
            rows.append(("longest pause after the kill", f"{pause:.1f} s"))
            checks["the leader was not killed"] = self.killed > 0
            checks[f"no attempt ended for {pause:.1f} s"] = pause <= self.options.pause
        return rows, [words for words, is_met in checks.items() if not is_met]


def jobs_per_second(log: list[Event]) -> float:
    """The rate from the first job to the last outcome."""
    ends = [event.at for event in log if event.name == "attemptEnded"]
    starts = [event.at for event in log if event.name == "devicePublished"]
    return len(ends) / max(0.001, (max(ends) - min(starts)) / 1000) if ends else 0.0


def settled_devices(state: pathlib.Path) -> int:
    """The number of devices with an outcome in the event log of a running coordinator."""
    query = "SELECT count(*) FROM event WHERE payload LIKE '{\"deviceSettled\"%'"
    for store in state.rglob("fleet.sqlite"):
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return int(connection.execute(query).fetchone()[0])
    return 0


def longest_pause(log: list[Event], moment: int) -> float:
    """The longest time without an ended attempt that began in the 30 s after a moment, in seconds."""
    ends = [moment, *sorted(event.at for event in log if event.name == "attemptEnded" and event.at >= moment)]
    pauses = ((after - before) / 1000 for before, after in zip(ends, ends[1:]) if before < moment + 30_000)
    return max(pauses, default=math.inf)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", type=pathlib.Path, metavar="PROGRAMS")
    parser.add_argument("--server", default="2.14.0", help="the version of the server")
    parser.add_argument("--cluster", action="store_true", help="three servers, the leader of which is killed")
    parser.add_argument("--pause", type=float, default=10, help="the maximum pause after the kill, in seconds")
    numbers = {"devices": 10_000, "gateways": 100, "sites": 50, "parallel": 2, "speed": 4}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="scale-"))
    rows, misses = Scale(options, folder).run()
    shutil.rmtree(folder)
    for name, value in rows:
        print(f"{name:<40}{value}")
    for words in misses:
        print(f"missed: {words}")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
