/// The names under which faults are asked for: `sim:NAME`, or `NAME` and `NAME=value` among the
/// keys of another profile.
public enum FaultName: String, CaseIterable, Sendable {
  /// The radio falls silent, once, after that many PDUs in both directions together.
  case cutAtPDU = "cut-at-pdu"
  /// The radio falls silent, once, that long after the first connection.
  case cutAfter = "cut-after"
  /// The device resets, once, at that operation of its flash, counted from 1.
  case resetAtFlashOperation = "reset-at-flash-op"
  /// A reset leaves the flash operation that it interrupts half done.
  case torn
  /// That share of the device's notifications is lost, 0…1.
  case notificationLoss = "notification-loss"
  /// After its first ten operations the flash never becomes ready again.
  case busyForever = "busy-forever"
  /// One page in the middle of the slot reads back with a wrong bit.
  case badBlock = "bad-block"
  /// The first Status with octets received carries a wrong CRC32.
  case wrongCRCOnce = "wrong-crc-once"
  /// Every such Status and the answer to REWIND carry a wrong CRC32.
  case wrongCRCAlways = "wrong-crc-always"
  /// Status repeats the first offset above zero for ever.
  case repeatOffset = "repeat-offset"
  /// Status, once, tells an offset of zero in the middle of the transfer.
  case jumpBack = "jump-back"
  /// Status tells an offset beyond the end of the image.
  case beyondEnd = "beyond-end"
  /// Status grants, in turn, nothing and one octet.
  case windowFlaps = "window-flaps"
  /// Status grants nothing, and tells seeded durable offsets of 0…6.
  case durableWanders = "durable-wanders"
  /// Status stays as it was after BEGIN, and each data write with response is answered with ATT
  /// error 0x80.
  case refusesData = "refuses-data"
  /// After activation an image runs that nobody sent.
  case otherImage = "other-image"
  /// After activation INFO tells another hardware id.
  case otherBoard = "other-board"
  /// After activation the device is never heard of again.
  case neverReturns = "never-returns"
  /// After activation the old version runs, and the device says nothing of it.
  case comesBackOld = "comes-back-old"
  /// The boot loader rejects the new image and says so.
  case reverts
  /// The host's adapter is pulled in the middle of the transfer.
  case adapterVanishes = "adapter-vanishes"
  /// Control answers with seeded random octets.
  case nonsense
  /// The device connects and never answers.
  case silent
  /// The device agrees to its full ATT_MTU and drops every PDU above 100 octets.
  case mtuLie = "mtu-lie"
  /// VERIFY is answered with "done" and the CRC32 of something else.
  case wrongVerifyCRC = "wrong-verify-crc"
  /// What the device holds is, it says, the beginning of an image that nobody knows.
  case foreignState = "foreign-state"
  /// After activation the new image runs, under an address at which the host does not look.
  case newAddress = "new-address"
  /// That PDU of the device, counted from 1, leaves half a second before the host's patience ends.
  case latePDU = "late-pdu"
  /// Before that share of the device's PDUs goes one of random octets, 0…1.
  case nonsensePDUs = "nonsense-pdus"
  /// The host takes 50 ms to look at each PDU from the device.
  case slowObserver = "slow-observer"

  /// One line for a person who chooses.
  public var summary: String {
    switch self {
    case .cutAtPDU: return "the link is cut once after N PDUs (200)"
    case .cutAfter: return "the link is cut once after a time (2s)"
    case .resetAtFlashOperation: return "the device resets once at its N-th flash operation (20)"
    case .torn: return "resets leave flash operations half done (with a reset at operation 20)"
    case .notificationLoss: return "a share of the notifications is lost (10%)"
    case .busyForever: return "the flash never becomes ready again"
    case .badBlock: return "one page of the slot cannot be written"
    case .wrongCRCOnce: return "one block checksum is wrong; the block is sent again"
    case .wrongCRCAlways: return "every block checksum is wrong"
    case .repeatOffset: return "the device repeats one offset for ever"
    case .jumpBack: return "the device goes back to offset 0 once"
    case .beyondEnd: return "the device asks for octets beyond the image"
    case .windowFlaps: return "the device's window opens and closes, and never takes a write"
    case .durableWanders:
      return "the device takes nothing, and what is in its flash goes up and down"
    case .refusesData: return "the device grants a window and is busy for each write into it"
    case .otherImage: return "another image runs after activation"
    case .otherBoard: return "another board, by its hardware id, answers after activation"
    case .neverReturns: return "the device is gone after activation"
    case .comesBackOld: return "the old version runs after activation, and nothing is said"
    case .reverts: return "the boot loader rejects the new image"
    case .adapterVanishes: return "the host's adapter is pulled in the middle"
    case .nonsense: return "control answers are random octets"
    case .silent: return "the device connects and never answers"
    case .mtuLie: return "the device drops PDUs that its ATT_MTU promises to take"
    case .wrongVerifyCRC: return "the image is called verified with the checksum of another"
    case .foreignState: return "the device holds, it says, the half of another image"
    case .newAddress: return "the device comes back under an address that nobody looks at"
    case .latePDU: return "the device's N-th PDU (60) comes just before the host gives up"
    case .nonsensePDUs: return "random PDUs come between the device's own, a share of them (1%)"
    case .slowObserver: return "the host takes 50 ms to look at each PDU"
    }
  }

  /// What a value must look like; `nil` = the fault takes none.
  var allowedValues: String? {
    switch self {
    case .cutAtPDU, .resetAtFlashOperation, .latePDU: return "a count, 1 or more"
    case .cutAfter: return "a time such as 500ms or 2s"
    case .notificationLoss, .nonsensePDUs: return "a share such as 10%"
    default: return nil
    }
  }

  /// The fault with the given value, or with its default; `nil` when the value is not allowed.
  func fault(value: String?) -> Fault? {
    switch self {
    case .cutAtPDU: return Quantity.count(value ?? "200").map(Fault.cutAtPDU)
    case .cutAfter: return Quantity.duration(value ?? "2s").map(Fault.cutAfter)
    case .resetAtFlashOperation:
      return Quantity.count(value ?? "20").map(Fault.resetAtFlashOperation)
    case .notificationLoss: return Quantity.share(value ?? "10%").map(Fault.notificationLoss)
    case .latePDU: return Quantity.count(value ?? "60").map(Fault.latePDU)
    case .nonsensePDUs: return Quantity.share(value ?? "1%").map(Fault.nonsensePDUs)
    default: return value == nil ? fault : nil
    }
  }

  /// The fault of a name that takes no value.
  private var fault: Fault? {
    switch self {
    case .cutAtPDU, .cutAfter, .resetAtFlashOperation, .notificationLoss, .latePDU, .nonsensePDUs:
      return nil
    case .torn: return .torn
    case .busyForever: return .busyForever
    case .badBlock: return .badBlock
    case .wrongCRCOnce: return .wrongCRCOnce
    case .wrongCRCAlways: return .wrongCRCAlways
    case .repeatOffset: return .repeatOffset
    case .jumpBack: return .jumpBack
    case .beyondEnd: return .beyondEnd
    case .windowFlaps: return .windowFlaps
    case .durableWanders: return .durableWanders
    case .refusesData: return .refusesData
    case .otherImage: return .otherImage
    case .otherBoard: return .otherBoard
    case .neverReturns: return .neverReturns
    case .comesBackOld: return .comesBackOld
    case .reverts: return .reverts
    case .adapterVanishes: return .adapterVanishes
    case .nonsense: return .nonsense
    case .silent: return .silent
    case .mtuLie: return .mtuLie
    case .wrongVerifyCRC: return .wrongVerifyCRC
    case .foreignState: return .foreignState
    case .newAddress: return .newAddress
    case .slowObserver: return .slowObserver
    }
  }
}
