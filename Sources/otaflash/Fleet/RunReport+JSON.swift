#if Fleet
import OtaflashFleet
import OtaflashFleetReport

extension RunReport {
  /// The run as a whole.
  ///
  /// - Parameters:
  ///   - events: how many the chain has.
  ///   - hash: of the last of them.
  func members(events: Int, chain hash: [UInt8]) -> [JSONValue.Member] {
    JSONValue.fields([
      "run": .string(beginning.id), "campaign": .string(beginning.campaign),
      "state": .string(stateWords), "headline": .string(headline), "events": .integer(events),
      "chain": .string(Text.hex(hash)),
      "patches": savings.map { savings in
        .object([
          "devices": .integer(savings.devices), "octets": .integer(savings.sent),
          "image": .integer(savings.made),
        ])
      },
    ])
  }

  /// One of its devices.
  func members(of device: DeviceReport) -> [JSONValue.Member] {
    JSONValue.fields([
      "device": .string(device.device.id), "name": .text(device.device.name),
      "board": .text(device.device.board), "site": .text(device.device.site),
      "wave": .string(waves[device.wave].name),
    ]) + device.members
  }
}
#endif
