import OtaflashBlueZ
import OtaflashGATT

// Stand-ins for parts that are not merged yet; this file goes when they are.

enum BluetoothAir {
  static func dialer(
    to address: BluetoothAddress, adapter: UInt16?, within limit: Duration
  ) -> Dialer {
    Dialer { () async throws(ConnectFault) -> any Link in
      try await L2CAPLink.connect(to: address, within: limit)
    }
  }

  static func survey(
    _ filter: SurveyFilter, adapter: UInt16?, for limit: Duration,
    found: @Sendable (Sighting) -> Void
  ) async throws(CommandFault) -> [Sighting] {
    throw .connect(
      .adapterUnavailable(cause: "This kernel has no Bluetooth.", remedy: "Use unix: or sim:."))
  }
}

struct HealthCheck: Sendable {
  enum Verdict: String, Sendable { case pass, warn, fail }
  let name: String
  let verdict: Verdict
  let finding: String
  let remedy: String?

  static func all(adapter: UInt16?) async -> [HealthCheck] {
    [
      HealthCheck(
        name: "kernel", verdict: .fail, finding: "no AF_BLUETOOTH", remedy: "Boot another kernel.")
    ]
  }
}

final class SimulatedDevice: Sendable {
  let profileName: String
  init(_ text: String, in session: Session) throws(CommandFault) {
    profileName = text.removingPrefix("sim:") ?? text
  }
  var dialer: Dialer {
    Dialer { () async throws(ConnectFault) -> any Link in
      throw .deviceNotFound(cause: "Simulation is not here yet.", remedy: "Wait.")
    }
  }
  func run<Success: Sendable>(while body: @escaping @Sendable () async -> Success) async -> Success {
    await body()
  }
}
