/// The names under which faults are asked for: `sim:NAME`, or `NAME` and `NAME=value` among the
/// keys of another profile.
public enum FaultName: String, CaseIterable, Sendable {
  case cutAtPDU = "cut-at-pdu"
  case cutAfter = "cut-after"
  case resetAtFlashOperation = "reset-at-flash-op"
  case torn
  case notificationLoss = "notification-loss"
  case busyForever = "busy-forever"
  case badBlock = "bad-block"
  case wrongCRCOnce = "wrong-crc-once"
  case wrongCRCAlways = "wrong-crc-always"
  case repeatOffset = "repeat-offset"
  case jumpBack = "jump-back"
  case beyondEnd = "beyond-end"
  case windowFlaps = "window-flaps"
  case durableWanders = "durable-wanders"
  case refusesData = "refuses-data"
  case otherImage = "other-image"
  case otherBoard = "other-board"
  case neverReturns = "never-returns"
  case comesBackOld = "comes-back-old"
  case reverts
  case adapterVanishes = "adapter-vanishes"
  case nonsense
  case silent
  case mtuLie = "mtu-lie"
  case wrongVerifyCRC = "wrong-verify-crc"
  case foreignState = "foreign-state"
  case newAddress = "new-address"
  case latePDU = "late-pdu"
  case nonsensePDUs = "nonsense-pdus"
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
