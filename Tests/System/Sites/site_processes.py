"""The processes of a deployment with several sites: server, coordinator, gateways and boards. Each
gateway has a network namespace, like a separate machine."""

import dataclasses
import json
import os
import pathlib
import signal
import struct
import subprocess
import time
import typing

PORT = 4222
START_LIMIT = 30.0
STOP_LIMIT = 15.0
# The time limit of a gateway's search for a device. The value is short, because gateways search for
# absent boards repeatedly.
SEARCH = "3s"
# A short queue, so that another gateway claims the device of a stopped gateway before the stop ends.
AHEAD = "1"
NAMESPACE_PREFIX = "otaflash-"


class Unavailable(Exception):
    """A requirement of the test is missing on this machine."""


def run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def clock_library(folder: pathlib.Path) -> pathlib.Path:
    """Compiles the library that sets the wall clock of a program."""
    source, library = pathlib.Path(__file__).with_name("set_clock.c"), folder / "set_clock.so"
    run("cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(library), str(source), "-ldl")
    return library


class Networks:
    """The network namespaces: one for the server and the coordinator, one for each gateway. None of
    them is connected to the network of the machine."""

    def __init__(self, gateways: int) -> None:
        self.prefix = f"{NAMESPACE_PREFIX}{os.getpid()}-"
        self.hub = f"{self.prefix}hub"
        self.gateways = [f"{self.prefix}{number}" for number in range(gateways)]

    def create(self) -> None:
        try:
            run("ip", "netns", "add", self.hub)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Unavailable(f"network namespaces cannot be created: {error}") from error
        run("ip", "-n", self.hub, "link", "set", "lo", "up")
        for number, name in enumerate(self.gateways):
            self.join(number, name)

    def join(self, number: int, name: str) -> None:
        """Connects the namespace of a gateway with that of the server."""
        inner, outer = "uplink", f"gw{number}"
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", self.hub, "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
        run("ip", "-n", self.hub, "address", "add", f"{self.address(number)}/30", "dev", outer)
        run("ip", "-n", name, "address", "add", f"{self.address(number, 2)}/30", "dev", inner)
        run("ip", "-n", self.hub, "link", "set", outer, "up")
        run("ip", "-n", name, "link", "set", inner, "up")

    @staticmethod
    def address(number: int, host: int = 1) -> str:
        """The address of the server (host 1) or of the gateway (host 2) on the link of a gateway."""
        return f"10.77.{number // 64}.{number % 64 * 4 + host}"

    def cut(self, number: int) -> None:
        run("ip", "-n", self.gateways[number], "link", "set", "uplink", "down")

    def restore(self, number: int) -> None:
        run("ip", "-n", self.gateways[number], "link", "set", "uplink", "up")

    def remove(self) -> None:
        for name in [*self.gateways, self.hub]:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL, check=False)


@dataclasses.dataclass
class Life:
    """One process of a program, and the time of its end by CLOCK_MONOTONIC."""

    process: subprocess.Popen[bytes]
    start: float
    end: float | None = None
    is_killed: bool = False


class Program:
    """A program that is killed and started again. Its lives have consecutive log files. With
    a clock library, it has a wall clock that can be set."""

    def __init__(
        self, name: str, words: list[str], folder: pathlib.Path, namespace: str | None = None,
        clock: pathlib.Path | None = None,
    ) -> None:  # fmt: skip
        self.name, self.folder = name, folder / name
        self.clock = clock
        self.words = ["ip", "netns", "exec", namespace, *words] if namespace else words
        self.lives: list[Life] = []
        for part in ("state", "run"):
            (self.folder / part).mkdir(parents=True)
        self.set_clock(0)

    def set_clock(self, offset: float) -> None:
        """Sets the difference of the program's wall clock from that of the machine, in seconds."""
        path = self.folder / "clock"
        with open(path, "r+b" if path.exists() else "wb") as file:
            file.write(struct.pack("=q", round(offset * 1e9)))

    @property
    def life(self) -> Life:
        return self.lives[-1]

    @property
    def pid(self) -> int:
        return self.life.process.pid

    def log(self, number: int) -> pathlib.Path:
        return self.folder / f"{number}.log"

    def start(self) -> None:
        # Processes on one machine would share the locks of devices, and gateways of one site do not.
        environment = dict(
            os.environ, XDG_STATE_HOME=str(self.folder / "state"), XDG_RUNTIME_DIR=str(self.folder / "run"),
            XDG_CACHE_HOME=str(self.folder / "cache"), HOME=str(self.folder),
        )  # fmt: skip
        if self.clock:
            environment.update(LD_PRELOAD=str(self.clock), CLOCK_OFFSET=str(self.folder / "clock"))
        with open(self.log(len(self.lives) + 1), "wb") as log:
            process = subprocess.Popen(
                self.words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder
            )
        self.lives.append(Life(process, time.monotonic()))

    def kill(self) -> None:
        self.life.is_killed = True
        self.life.process.kill()
        self.life.process.wait()
        self.life.end = time.monotonic()

    def pause(self) -> None:
        self.life.process.send_signal(signal.SIGSTOP)

    def proceed(self) -> None:
        self.life.process.send_signal(signal.SIGCONT)

    def exit_code(self) -> int | None:
        """The exit code of the current life; `None` while it runs."""
        code = self.life.process.poll()
        if code is not None and self.life.end is None:
            self.life.end = time.monotonic()
        return code

    def terminate(self) -> None:
        if self.exit_code() is None:
            self.life.process.terminate()

    def wait(self) -> int:
        """Waits for the end after SIGTERM, and returns the exit code; a program that does not end is
        killed."""
        try:
            code = self.life.process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            self.life.process.kill()
            code = self.life.process.wait()
        self.life.end = time.monotonic()
        return code

    def tail(self, lines: int = 12) -> str:
        path = self.log(len(self.lives))
        text = path.read_text(errors="replace") if path.exists() else ""
        return "\n".join(text.splitlines()[-lines:])


def wait_for_server(server: Program) -> None:
    """Waits until a server accepts connections. Its log is the only trace without a client."""
    wait_for_text(server, "Server is ready")


def wait_for_text(program: Program, text: str) -> None:
    """Waits until a program that has just started writes a text to its log."""
    log = program.log(len(program.lives))
    while text not in log.read_text(errors="replace"):
        if program.exit_code() is not None or time.monotonic() - program.life.start > START_LIMIT:
            raise RuntimeError(f"{program.name} did not write '{text}':\n{program.tail()}")
        time.sleep(0.02)


class Boards:
    """The process with the boards, which survives all faults."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path, fleet: str, cuts: float, power_cuts: float) -> None:
        self.folder = folder / "b"
        self.folder.mkdir()
        self.report_path = folder / "boards.jsonl"
        words = [str(program), str(self.folder), fleet, "--cuts", str(cuts), "--power-cuts", str(power_cuts)]
        self.process = subprocess.Popen(
            [*words, "--report", str(self.report_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.expect("ready")

    def expect(self, word: str) -> None:
        line = self.process.stdout.readline().strip() if self.process.stdout else ""
        if line != word:
            raise RuntimeError(f"site-boards printed {line!r} instead of {word!r}")

    def path(self, number: int) -> str:
        return f"{self.folder}/board-{number + 1:04}.sock"

    def report(self) -> list[dict[str, typing.Any]]:
        if self.process.stdin:
            self.process.stdin.write("report\n")
            self.process.stdin.flush()
        self.expect("done")
        return [json.loads(line) for line in self.report_path.read_text().splitlines()]

    def end(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()


class Deployment:
    """All programs of one run."""

    def __init__(
        self, programs: pathlib.Path, server: pathlib.Path, folder: pathlib.Path, networks: Networks,
        sites: list[str], parallel: int, campaign: pathlib.Path,
    ) -> None:  # fmt: skip
        self.networks, self.sites = networks, sites
        configuration = folder / "server.conf"
        configuration.write_text(
            f'listen: "0.0.0.0:{PORT}"\nmax_payload: 8MB\njetstream {{ store_dir: "{folder}/jetstream" }}\n'
        )
        self.server = Program("server", [str(server), "--config", str(configuration)], folder, networks.hub)
        self.coordinator = Program(
            "coordinator",
            [
                str(programs / "otaflash-coordinator"), "serve", "--nats", f"nats://127.0.0.1:{PORT}",
                "--listen", "127.0.0.1:0", "--search", SEARCH, "--ahead", AHEAD, "--run", str(campaign),
            ],
            folder, networks.hub,
        )  # fmt: skip
        clock = clock_library(folder)
        self.gateways = [
            Program(
                f"gateway-{number + 1}",
                [
                    str(programs / "otaflash-gateway"), "run", "--nats", f"nats://{networks.address(number)}:{PORT}",
                    "--site", site, "--name", f"gateway-{number + 1}", "--parallel", str(parallel),
                ],
                folder, networks.gateways[number], clock,
            )
            for number, site in enumerate(sites)
        ]  # fmt: skip

    @property
    def programs(self) -> list[Program]:
        return [self.server, self.coordinator, *self.gateways]

    def start(self) -> None:
        self.server.start()
        wait_for_server(self.server)
        self.coordinator.start()
        for gateway in self.gateways:
            gateway.start()

    def end(self) -> None:
        for program in self.programs:
            if program.lives and program.life.end is None:
                program.proceed()
                program.kill()
