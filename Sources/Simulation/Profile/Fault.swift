/// Something that goes wrong with a simulated device, on purpose.
package enum Fault: Hashable, Sendable {
  /// The radio falls silent, once, after that many PDUs in both directions together.
  case cutAtPDU(Int)
  /// The radio falls silent, once, that long after the first connection.
  case cutAfter(Duration)
  /// The device resets, once, at that operation of its flash, counted from 1.
  case resetAtFlashOperation(Int)
  /// A reset leaves the flash operation that it interrupts half done.
  case torn
  /// That share of the device's notifications is lost, 0…1.
  case notificationLoss(Double)
  /// After its first ten operations the flash never becomes ready again.
  case busyForever
  /// One page in the middle of the slot reads back with a wrong bit.
  case badBlock
  /// The first Status with octets received carries a wrong CRC32.
  case wrongCRCOnce
  /// Every such Status and the answer to REWIND carry a wrong CRC32.
  case wrongCRCAlways
  /// Status repeats the first offset above zero for ever.
  case repeatOffset
  /// Status, once, tells an offset of zero in the middle of the transfer.
  case jumpBack
  /// Status tells an offset beyond the end of the image.
  case beyondEnd
  /// Status grants, in turn, nothing and one octet.
  case windowFlaps
  /// Status grants nothing, and tells seeded durable offsets of 0…6.
  case durableWanders
  /// Status stays as it was after BEGIN, and each data write with response is answered with ATT
  /// error 0x80.
  case refusesData
  /// After activation an image runs that nobody sent.
  case otherImage
  /// After activation INFO tells another hardware id.
  case otherBoard
  /// After activation the device is never heard of again.
  case neverReturns
  /// After activation the old version runs, and the device says nothing of it.
  case comesBackOld
  /// The boot loader rejects the new image and says so.
  case reverts
  /// The host's adapter is pulled in the middle of the transfer.
  case adapterVanishes
  /// Control answers with seeded random octets.
  case nonsense
  /// The device connects and never answers.
  case silent
  /// The device agrees to its full ATT_MTU and drops every PDU above 100 octets.
  case mtuLie
  /// VERIFY is answered with "done" and the CRC32 of something else.
  case wrongVerifyCRC
  /// What the device holds is, it says, the beginning of an image that nobody knows.
  case foreignState
  /// After activation the new image runs, under an address at which the host does not look.
  case newAddress
  /// That PDU of the device, counted from 1, leaves half a second before the host's patience ends.
  case latePDU(Int)
  /// Before that share of the device's PDUs goes one of random octets, 0…1.
  case nonsensePDUs(Double)
  /// The host takes 50 ms to look at each PDU from the device.
  case slowObserver
}

/// The faults of one device.
package struct FaultPlan: Hashable, Sendable {
  package private(set) var faults: Set<Fault>

  package init(_ faults: Set<Fault> = []) { self.faults = faults }

  mutating func add(_ fault: Fault) { faults.insert(fault) }

  func contains(_ fault: Fault) -> Bool { faults.contains(fault) }

  /// The value of the one fault of a kind, as in `plan.value { if case .cutAtPDU(let n) = $0 … }`.
  func value<Value>(of part: (Fault) -> Value?) -> Value? { faults.lazy.compactMap(part).first }

  var pdusUntilCut: Int? { value { if case .cutAtPDU(let count) = $0 { count } else { nil } } }

  var timeUntilCut: Duration? { value { if case .cutAfter(let time) = $0 { time } else { nil } } }

  var flashOperationOfReset: Int? {
    value { if case .resetAtFlashOperation(let number) = $0 { number } else { nil } }
  }

  var numberOfLatePDU: Int? { value { if case .latePDU(let number) = $0 { number } else { nil } } }

  var nonsensePDUShare: Double {
    value { if case .nonsensePDUs(let share) = $0 { share } else { nil } } ?? 0
  }

  var notificationLoss: Double {
    value { if case .notificationLoss(let share) = $0 { share } else { nil } } ?? 0
  }
}
