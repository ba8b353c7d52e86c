"""The scenario of a fault run, and the times of its faults, which a seed determines."""

import dataclasses
import enum
import random


class Kind(enum.Enum):
    """The faults. The value is the name in the table."""

    KILL = "gateway kill -9"
    STOP = "gateway stopped"
    PARTITION = "partition"
    SERVER = "server kill -9"
    COORDINATOR = "coordinator kill -9"
    CLOCK = "clock set"


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault. `gateway` is the preferred gateway, counted over all sites."""

    at: float
    kind: Kind
    gateway: int
    duration: float
    clock: float = 0  # the new offset of the gateway's clock, in seconds


@dataclasses.dataclass(frozen=True)
class Scenario:
    """One campaign with its faults. Times are in seconds."""

    seed: int
    devices: int
    sites: int
    gateways_per_site: int
    parallel: int
    counts: dict[Kind, int]
    span: float  # the time in which the faults start
    erase_ms: int  # the time to erase a page of 4 KiB, which determines the length of an update
    image_size: int
    fates: str  # the shares of boards with a defect, as in `sim-fleet:`
    cuts: float  # the share of boards whose link is cut once
    power_cuts: float  # the share of boards whose power fails once
    stop_seconds: float = 60
    longest_stop: float = 60
    # The offsets of the clocks of gateways; the first gateways start with them.
    clocks: tuple[float, ...] = (600, -600)

    @property
    def gateways(self) -> int:
        return self.sites * self.gateways_per_site

    @property
    def fleet(self) -> str:
        """The boards, as the argument of `site-boards`. Boards with patches would receive different
        numbers of bytes."""
        return (
            f"{self.devices}?seed={self.seed}&slot=64K&ring=4K&erase={self.erase_ms}ms&write=0&boot=50ms"
            f"&delta=no&versions=1.2.0:3/1.1.0:1{self.fates}"
        )

    def site(self, number: int) -> str:
        return f"site-{number % self.sites + 1}"


def short(seed: int) -> Scenario:
    """Returns the scenario with a tenth of the devices and of the faults of the long form."""
    counts = {Kind.KILL: 20, Kind.STOP: 10, Kind.PARTITION: 5, Kind.SERVER: 1, Kind.COORDINATOR: 2, Kind.CLOCK: 10}
    return Scenario(
        seed=seed, devices=200, sites=5, gateways_per_site=4, parallel=2, counts=counts, span=36, erase_ms=800,
        image_size=32_768, fates="&revert=3%&away=1%", cuts=0.1, power_cuts=0.05,
    )  # fmt: skip


def long(seed: int) -> Scenario:
    counts = {
        Kind.KILL: 200, Kind.STOP: 100, Kind.PARTITION: 50, Kind.SERVER: 10, Kind.COORDINATOR: 20, Kind.CLOCK: 100,
    }  # fmt: skip
    return Scenario(
        seed=seed, devices=2000, sites=10, gateways_per_site=4, parallel=1, counts=counts, span=700,
        erase_ms=1500, image_size=32_768, fates="&revert=3%&away=1%&brick=0.2%", cuts=0.1, power_cuts=0.05,
        # Each new coordinator measures the leases again, so a device is freed late.
        longest_stop=150,
    )  # fmt: skip


def faults(scenario: Scenario) -> list[Fault]:
    """The faults in the order of their times. Equal scenarios have equal faults."""
    chance = random.Random(scenario.seed)
    found = []
    for kind in Kind:
        for _ in range(scenario.counts[kind]):
            found.append(
                Fault(
                    at=moment(kind, scenario, chance), kind=kind, gateway=chance.randrange(scenario.gateways),
                    duration=duration(kind, scenario, chance),
                    clock=chance.choice(scenario.clocks) if kind is Kind.CLOCK else 0,
                )
            )  # fmt: skip
    return sorted(found, key=lambda fault: fault.at)


def moment(kind: Kind, scenario: Scenario, chance: random.Random) -> float:
    """Returns the time of a fault in seconds. No fault occurs during the first updates. Stops and partitions
    start early, so that they end before the campaign does. A coordinator that starts measures all leases
    again; in the short form, it starts before the stops, so that other gateways claim the devices of stopped
    gateways in time."""
    first, last = 4.0, scenario.span
    is_short = scenario.span < 2 * scenario.stop_seconds
    match kind:
        case Kind.STOP | Kind.PARTITION:
            first += 4 if is_short else 0
            last = max(first + 8, scenario.span - scenario.stop_seconds)
        case Kind.COORDINATOR | Kind.SERVER if is_short:
            last = first + 4
        case _:
            pass
    return chance.uniform(first, last)


def duration(kind: Kind, scenario: Scenario, chance: random.Random) -> float:
    """The time until the process is started again, or until the stop or the partition ends."""
    match kind:
        case Kind.STOP:
            return chance.uniform(scenario.stop_seconds, max(scenario.stop_seconds, scenario.longest_stop))
        case Kind.PARTITION:
            # Either shorter than the time in which a gateway may write, or longer than a lease.
            return chance.choice([chance.uniform(5, 25), chance.uniform(46, 60)])
        case Kind.KILL | Kind.COORDINATOR | Kind.SERVER:
            return chance.uniform(0.2, 3)
        case Kind.CLOCK:
            return 0
