// Lists the devices in range, strongest first, connects to the strongest device of a kind, and
// reads its firmware revision once per second. It reconnects after a loss, and waits for an adapter
// that was switched off.
//
//   Nearby                        simulated devices, in virtual time
//   Nearby NAME-PREFIX READINGS   real devices, with the first adapter (needs CAP_NET_ADMIN)

import Glibc
import OtaflashBlueZ
import OtaflashGATT

extension BluetoothUUID {
  static let deviceInformation = BluetoothUUID(0x180A)
  static let firmwareRevision = BluetoothUUID(0x2A26)
}

struct NobodyNearby: Error {}

/// Makes `readings` consecutive readings on one connection; after a loss, the readings start again
/// on a new connection.
func follow(
  prefix: String, readings: Int, from central: some Central, adapter: (any AdapterMonitor)?,
  on clock: any LinkClock
) async throws {
  try await adapter?.waitUntilPoweredOn(within: .seconds(10), on: clock)
  let devices = try await central.discovered(for: .seconds(2), on: clock)
  for device in devices {
    print("\(device.name ?? "(no name)") \(device.rssi.map { "\($0) dBm" } ?? "")")
  }
  guard let nearest = devices.first(where: { $0.name?.hasPrefix(prefix) == true }) else {
    throw NobodyNearby()
  }
  let dialer = Dialer(
    to: AdvertisementFilter(ids: [nearest.id]), from: central, within: .seconds(10), on: clock)
  try await withPeripheral(dialer, clock: clock) { peripheral in
    try await peripheral.keepingConnected(
      .constant(.seconds(1), attempts: 30), waitingFor: adapter, reporting: printEvent
    ) { client in
      let revision = try await client.characteristic(.firmwareRevision, in: .deviceInformation)
      for number in 1...readings {
        print("\(number): \(String(decoding: try await client.read(revision), as: UTF8.self))")
        if number < readings { await clock.pause(for: .seconds(1)) }
      }
    }
  }
}

func printEvent(_ event: ReconnectionEvent) {
  switch event {
  case .willReconnect(let attempt, _, _, _): print("attempt \(attempt)")
  case .waitingForAdapter: print("waiting for the adapter")
  case .reconnected: print("connected again")
  case .gaveUp(let attempts, let cause): print("gave up after \(attempts): \(cause)")
  }
}

let arguments = CommandLine.arguments.dropFirst()
do {
  if arguments.isEmpty {
    try followSimulated()
  } else if let prefix = arguments.first, let readings = arguments.last.flatMap({ Int($0) }),
    arguments.count == 2, readings > 0
  {
    let adapter = LocalAdapter()
    try await withTaskExecutorPreference(EventLoop.shared) {
      try await follow(
        prefix: prefix, readings: readings, from: adapter, adapter: adapter, on: EventLoopClock())
    }
  } else {
    print("usage: Nearby [NAME-PREFIX READINGS]")
    exit(64)
  }
} catch {
  print("\(error)")
  exit(1)
}
