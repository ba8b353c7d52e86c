/// An injected fault of a simulated device. The raw value is the fault's name in profiles:
/// `sim:NAME`, or `NAME` and `NAME=value` among the keys of another profile. The cases name the
/// messages of the OTA service; other kinds apply the fault to their corresponding messages.
package enum Fault: String, CaseIterable, Sendable {
  /// The radio fails, once, after this number of PDUs in both directions together.
  case cutAtPDU = "cut-at-pdu"
  /// The radio fails, once, this long after the first connection.
  case cutAfter = "cut-after"
  /// The device resets, once, at this operation of its flash, counted from 1.
  case resetAtFlashOperation = "reset-at-flash-op"
  /// A reset leaves the interrupted flash operation incomplete.
  case torn
  /// This share of the device's notifications is lost, 0…1.
  case notificationLoss = "notification-loss"
  /// After its first ten operations, the flash never becomes ready again.
  case busyForever = "busy-forever"
  /// One page of the slot stores a bit error with each write.
  case badBlock = "bad-block"
  /// The first Status that reports received bytes carries a wrong CRC32.
  case wrongCRCOnce = "wrong-crc-once"
  /// Every Status that reports received bytes, and the answer to REWIND, carry a wrong CRC32.
  case wrongCRCAlways = "wrong-crc-always"
  /// Status repeats the first offset above zero indefinitely.
  case repeatOffset = "repeat-offset"
  /// Status reports, once, an offset of zero in the middle of the transfer.
  case jumpBack = "jump-back"
  /// Status reports an offset beyond the end of the image.
  case beyondEnd = "beyond-end"
  /// Status alternately grants a window of 0 bytes and a window of 1 byte.
  case windowFlaps = "window-flaps"
  /// Status grants no window and reports seeded durable offsets of 0…6.
  case durableWanders = "durable-wanders"
  /// Status stays unchanged after BEGIN, and each data write with response is answered with ATT
  /// error 0x80.
  case refusesData = "refuses-data"
  /// After activation, the device runs an image other than the sent image.
  case otherImage = "other-image"
  /// After activation, INFO reports another hardware id.
  case otherBoard = "other-board"
  /// After activation, the device never advertises again.
  case neverReturns = "never-returns"
  /// After activation, the old version runs, and the device reports no reason.
  case comesBackOld = "comes-back-old"
  /// The bootloader rejects the new image and reports the rejection.
  case reverts
  /// The host's adapter is unplugged in the middle of the transfer.
  case adapterVanishes = "adapter-vanishes"
  /// The responses to control requests are seeded random bytes.
  case nonsense
  /// The device connects and never answers.
  case silent
  /// The device agrees to its full ATT_MTU and drops every PDU above 100 bytes.
  case mtuLie = "mtu-lie"
  /// VERIFY is answered with "done" and the CRC32 of other data.
  case wrongVerifyCRC = "wrong-verify-crc"
  /// The device reports that it holds the first part of an unknown image.
  case foreignState = "foreign-state"
  /// After activation, the new image runs under an address that the host does not search for.
  case newAddress = "new-address"
  /// One PDU of the device, whose number is counted from 1, is delayed until half a second before
  /// the ATT transaction timeout of the host.
  case latePDU = "late-pdu"
  /// Before this share of the device's PDUs, 0…1, a PDU of random bytes is sent.
  case nonsensePDUs = "nonsense-pdus"
  /// The host needs 50 ms to process each PDU from the device.
  case slowObserver = "slow-observer"
}

/// The parameter of a fault.
package enum FaultValue: Hashable, Sendable {
  /// The fault has no parameter.
  case whole
  case count(Int)
  case time(Duration)
  /// A share, 0…1.
  case share(Double)
}

extension Fault {
  /// A one-line description for the help.
  package var summary: String { row.summary }

  /// The default value.
  var usual: FaultValue { row.usual }

  private var row: (summary: String, usual: FaultValue) {
    switch self {
    case .cutAtPDU: ("the link is cut once after N PDUs (200)", .count(200))
    case .cutAfter: ("the link is cut once after a time (2s)", .time(.seconds(2)))
    case .resetAtFlashOperation:
      ("the device resets once at its N-th flash operation (20)", .count(20))
    case .torn: ("resets interrupt flash operations (with a reset at operation 20)", .whole)
    case .notificationLoss: ("a share of the notifications is lost (10%)", .share(0.1))
    case .busyForever: ("the flash never becomes ready again", .whole)
    case .badBlock: ("one page of the slot cannot be written", .whole)
    case .wrongCRCOnce: ("one block checksum is wrong; the block is sent again", .whole)
    case .wrongCRCAlways: ("every block checksum is wrong", .whole)
    case .repeatOffset: ("the device repeats one offset indefinitely", .whole)
    case .jumpBack: ("the device goes back to offset 0 once", .whole)
    case .beyondEnd: ("the device requests bytes beyond the end of the image", .whole)
    case .windowFlaps: ("the device's window opens and closes, and never accepts a write", .whole)
    case .durableWanders:
      ("the device accepts no data, and its durable offset goes up and down", .whole)
    case .refusesData: ("the device grants a window and answers each write with busy", .whole)
    case .otherImage: ("after activation, another image runs", .whole)
    case .otherBoard: ("after activation, a board with another hardware ID answers", .whole)
    case .neverReturns: ("after activation, the device does not start again", .whole)
    case .comesBackOld: ("after activation, the old version runs for no reported reason", .whole)
    case .reverts: ("the bootloader rejects the new image", .whole)
    case .adapterVanishes: ("the host's adapter is unplugged during the transfer", .whole)
    case .nonsense: ("the responses to control requests are random bytes", .whole)
    case .silent: ("the device connects and never answers", .whole)
    case .mtuLie: ("the device drops PDUs that its ATT_MTU permits", .whole)
    case .wrongVerifyCRC: ("the device reports success with the checksum of another image", .whole)
    case .foreignState: ("the device reports that it holds half of another image", .whole)
    case .newAddress: ("after activation, the device advertises with an unknown address", .whole)
    case .latePDU:
      ("the device's N-th PDU (60) arrives just before the time limit of the host", .count(60))
    case .nonsensePDUs:
      ("the device sends a random PDU before a share of its PDUs (1%)", .share(0.01))
    case .slowObserver: ("the host needs 50 ms to process each PDU", .whole)
    }
  }

  /// The description of the allowed values; `nil` = the fault has no parameter.
  var allowedValues: String? {
    switch usual {
    case .whole: nil
    case .count: "a count, 1 or more"
    case .time: "a time such as 500ms or 2s"
    case .share: "a share such as 10%"
    }
  }

  /// Parses a value; returns `nil` if it is not allowed.
  func value(_ text: String) -> FaultValue? {
    switch usual {
    case .whole: nil
    case .count: Quantity.count(text).map(FaultValue.count)
    case .time: Quantity.duration(text).map(FaultValue.time)
    case .share: Quantity.share(text).map(FaultValue.share)
    }
  }

  /// The faults that do not depend on the update protocol, such as faults of the link, the adapter,
  /// the flash and the reset.
  static let ofAnyDevice: Set<Fault> = [
    .cutAtPDU, .cutAfter, .resetAtFlashOperation, .torn, .notificationLoss, .busyForever,
    .badBlock, .neverReturns, .comesBackOld, .reverts, .adapterVanishes, .silent, .mtuLie,
    .newAddress, .latePDU, .nonsensePDUs, .slowObserver,
  ]
}

/// The faults of one device.
package struct FaultPlan: Hashable, Sendable {
  private struct Entry: Hashable, Sendable {
    let fault: Fault
    let value: FaultValue
  }

  /// The faults, sorted by name. Each PDU needs a search; for a few entries, a linear search is
  /// faster than hashing.
  private var entries: [Entry] = []

  package init(_ values: [Fault: FaultValue] = [:]) {
    for (fault, value) in values { add(fault, value) }
  }

  mutating func add(_ fault: Fault, _ value: FaultValue) {
    entries.removeAll { $0.fault == fault }
    entries.append(Entry(fault: fault, value: value))
    entries.sort { $0.fault.rawValue < $1.fault.rawValue }
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Whether the plan contains a fault that depends on the update protocol.
  var misbehaves: Bool { entries.contains { !Fault.ofAnyDevice.contains($0.fault) } }

  func contains(_ fault: Fault) -> Bool { value(of: fault) != nil }

  func count(of fault: Fault) -> Int? {
    if case .count(let count)? = value(of: fault) { count } else { nil }
  }

  func time(of fault: Fault) -> Duration? {
    if case .time(let time)? = value(of: fault) { time } else { nil }
  }

  /// Returns the share of a fault; 0 if the plan does not contain it.
  func share(of fault: Fault) -> Double {
    if case .share(let share)? = value(of: fault) { share } else { 0 }
  }

  private func value(of fault: Fault) -> FaultValue? {
    for entry in entries where entry.fault == fault { return entry.value }
    return nil
  }
}
