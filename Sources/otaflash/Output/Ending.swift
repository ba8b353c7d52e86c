import OtaflashConsole
import OtaflashUpdate

/// How a run ended: its exit status, and the one result that `--json` writes last.
struct Ending: Equatable, Sendable {
  /// One device's part of the result.
  struct Device: Equatable, Sendable {
    var id: String
    var outcome: String
    var from: String?
    var to: String?
    /// Of an MCUboot image.
    var toBuild: UInt32?
    var proof: UpdateResult.Proof?
    /// What only the device's user can do so that the image stays.
    var validation: String?
    /// The device has no application, and waits for one.
    var awaitsApplication = false
    var took: Duration?
    var resumes: Int?
    /// What held the upload back.
    var bottleneck: Bottleneck?
    /// What was sent, where the device takes more than images.
    var delivery: [JSONValue.Member]?

    var json: JSONValue {
      .object([
        "id": .string(id), "outcome": .string(outcome), "from": from.map { .string($0) },
        "to": to.map { .string($0) }, "to_build": .integer(toBuild.map { Int($0) }),
        "verified": proof.map { .bool($0 != .none) },
        "proof": proof.map { .string($0.rawValue) },
        "validation": validation.map { .string($0) },
        "awaits_application": awaitsApplication ? .bool(true) : nil,
        "ms": .integer(took?.inMilliseconds), "resumes": .integer(resumes),
        "bottleneck": bottleneck.map { .string($0.rawValue) },
        "delivery": delivery.map { .object($0) },
      ])
    }
  }

  var exit: ExitStatus
  /// One word: `flashed`, `listed`, `failed` …
  var outcome: String
  var devices: [Device] = []
  /// The words of the run that goes on from here, where one does.
  var next: [String]?

  static func done(_ outcome: String, devices: [Device] = []) -> Ending {
    Ending(exit: .done, outcome: outcome, devices: devices)
  }

  static func failed(_ exit: ExitStatus, outcome: String = "failed", device: String? = nil)
    -> Ending
  {
    Ending(
      exit: exit, outcome: outcome,
      devices: device.map { [Device(id: $0, outcome: outcome)] } ?? [])
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "exit": .integer(Int(exit.code)), "outcome": .string(outcome),
      "devices": .array(devices.map(\.json)),
    ])
  }
}
