#if Fleet
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport

extension RunReport {
  /// Returns the members of the complete run.
  ///
  /// - Parameters:
  ///   - events: the number of events in the chain.
  ///   - hash: the hash of the last event.
  package func members(events: Int, chain hash: [UInt8]) -> [JSONValue.Member] {
    JSONValue.fields([
      "run": .string(beginning.id), "campaign": .string(beginning.campaign),
      "state": .string(stateWords), "headline": .string(headline), "events": .integer(events),
      "chain": .string(Text.hex(hash)), "started_by": .text(beginning.startedBy),
      "weakest_verification": .text(grades.weakest?.name),
      "images": beginning.images.map { .array($0.map { .object($0.members) }) },
      "campaign_files": beginning.files.map { .array($0.map { .object($0.members) }) },
      "settings": beginning.settings.map { settings in
        .array(
          settings.map { .object(["name": .string($0.name), "words": .string($0.words)]) })
      },
      "operators": .array(
        operators.map {
          .object(JSONValue.fields(["at": .string($0.at.text)]) + $0.action.members)
        }),
      "patches": savings.map { savings in
        .object([
          "devices": .integer(savings.devices), "octets": .integer(savings.sent),
          "image": .integer(savings.made),
        ])
      },
    ])
  }

  /// Returns the members of a device.
  package func members(of device: DeviceReport) -> [JSONValue.Member] {
    device.members(inWave: waves[device.wave].name)
  }
}

extension RunImage {
  fileprivate var members: [JSONValue.Member] {
    JSONValue.fields([
      "file": .string(name), "version": .text(version), "size": .integer(size),
      "sha256": .text(sha256),
    ])
  }
}

extension RunFile {
  fileprivate var members: [JSONValue.Member] {
    JSONValue.fields([
      "role": .string(role.rawValue), "file": .string(name), "sha256": .text(sha256),
    ])
  }
}
#endif
