import OtaflashConsole
import OtaflashUpdate

/// The outcome of a run: its exit status, and the result that `--json` writes last.
package struct Ending: Equatable, Sendable {
  /// One device's part of the result.
  package struct Device: Equatable, Sendable {
    package var id: String
    package var outcome: String
    package var from: String?
    package var to: String?
    /// The build number of an MCUboot image.
    package var toBuild: UInt32?
    package var proof: UpdateResult.Proof?
    /// The action that only the device's user can take to keep the image; `nil` if no such action
    /// is needed.
    package var validation: String?
    /// Whether the device has no application and waits for one.
    package var awaitsApplication = false
    package var took: Duration?
    package var resumes: Int?
    /// The bottleneck of the upload.
    package var bottleneck: Bottleneck?
    /// The delivered content, if the device supports other content than complete images.
    package var delivery: [JSONValue.Member]?

    package init(
      id: String, outcome: String, from: String? = nil, to: String? = nil, toBuild: UInt32? = nil,
      proof: UpdateResult.Proof? = nil, validation: String? = nil, awaitsApplication: Bool = false,
      took: Duration? = nil, resumes: Int? = nil, bottleneck: Bottleneck? = nil,
      delivery: [JSONValue.Member]? = nil
    ) {
      self.id = id
      self.outcome = outcome
      self.from = from
      self.to = to
      self.toBuild = toBuild
      self.proof = proof
      self.validation = validation
      self.awaitsApplication = awaitsApplication
      self.took = took
      self.resumes = resumes
      self.bottleneck = bottleneck
      self.delivery = delivery
    }

    package var json: JSONValue {
      .object([
        "id": .string(id), "outcome": .string(outcome), "from": from.map { .string($0) },
        "to": to.map { .string($0) }, "to_build": .integer(toBuild.map { Int($0) }),
        "verified": proof.map { .bool($0.isEvidence) },
        "proof": proof.map { .string($0.rawValue) },
        "validation": validation.map { .string($0) },
        "awaits_application": awaitsApplication ? .bool(true) : nil,
        "ms": .integer(took?.inMilliseconds), "resumes": .integer(resumes),
        "bottleneck": bottleneck.map { .string($0.rawValue) },
        "delivery": delivery.map { .object($0) },
      ])
    }
  }

  package var exit: ExitStatus
  /// The outcome as one word: `flashed`, `listed`, `failed` …
  package var outcome: String
  package var devices: [Device] = []
  /// The arguments of a run that continues this run; `nil` if this run cannot be continued.
  package var next: [String]?

  package init(exit: ExitStatus, outcome: String, devices: [Device] = [], next: [String]? = nil) {
    self.exit = exit
    self.outcome = outcome
    self.devices = devices
    self.next = next
  }

  package static func done(_ outcome: String, devices: [Device] = []) -> Ending {
    Ending(exit: .done, outcome: outcome, devices: devices)
  }

  package static func failed(_ exit: ExitStatus, outcome: String = "failed", device: String? = nil)
    -> Ending
  {
    Ending(
      exit: exit, outcome: outcome,
      devices: device.map { [Device(id: $0, outcome: outcome)] } ?? [])
  }

  package var members: [JSONValue.Member] {
    JSONValue.fields([
      "exit": .integer(Int(exit.code)), "outcome": .string(outcome),
      "devices": .array(devices.map(\.json)),
    ])
  }
}
