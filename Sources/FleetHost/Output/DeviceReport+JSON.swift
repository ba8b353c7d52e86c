#if Fleet
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport

extension DeviceReport {
  /// Returns the members for the device and its outcome in a run.
  ///
  /// - Parameter wave: the name of the device's wave.
  package func members(inWave wave: String) -> [JSONValue.Member] {
    JSONValue.fields([
      "device": .string(device.id), "name": .text(device.name), "board": .text(device.board),
      "site": .text(device.site), "wave": .string(wave),
    ]) + members
  }

  /// The outcome of a device in a run, without its identity.
  package var members: [JSONValue.Member] {
    JSONValue.fields([
      "outcome": .string(outcome.rawValue), "words": .string(outcomeWords),
      "from": .text(from), "to": .text(to), "proof": .text(proof),
      "verification": .text(grade?.name),
      "attempts": .integer(attempts.count), "adapter": .text(adapter),
      "cause": .text(cause?.code), "cause_words": .text(words),
      "octets": figures.map { .integer($0.bytes) },
      "upload_ms": figures.map { .integer(Int($0.uploadMilliseconds)) },
      "resumes": figures.map { .integer($0.resumes) },
      "first_attempt": began.map { .string($0.text) },
      "settled": settled.map { .string($0.text) },
    ])
  }
}
#endif
