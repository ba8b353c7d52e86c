import OtaflashFirmware
import OtaflashGATT

/// The rules of Telink's OTA server (README.md in this folder), independent of link and clock.
struct TelinkServer: Sendable {
  /// The result codes of the server.
  enum Result: UInt8, Sendable {
    case success = 0
    case sequence = 1
    case invalidPacket = 2
    case packetChecksum = 3
    case flashVerify = 4
    case incomplete = 5
    case flow = 6
    case imageChecksum = 7
    case version = 8
    case packetLength = 9
    case mark = 10
    case size = 11
    case packetTimeout = 12
    case totalTimeout = 13
    case notSupported = 15
  }

  /// A transfer in progress.
  struct Transfer: Sendable {
    let pduLength: Int
    let started: LinkInstant
    var lastPacket: LinkInstant
    /// The bytes of all accepted PDUs.
    var bytes: [UInt8] = []
    /// The number of accepted PDUs, which is the next index.
    var count = 0
    /// The size of the image, from its header.
    var size: Int?
  }

  enum Phase: Sendable {
    case idle
    case receiving(Transfer)
    /// The transfer is over; all PDUs are ignored until the reset.
    case ended
  }

  /// A request to the device.
  enum Request: Equatable, Sendable {
    case reset
    case activate(SlotImage)
  }

  enum FlashPurpose: Sendable {
    case data(ArraySlice<UInt8>, at: Int)
    case activation(SlotImage)
  }

  /// The maximum number of waiting flash operations. The server waits for the flash after each PDU,
  /// so the limit is reached only if the flash never becomes ready.
  private static let operationsMaximum = 8

  let settings: TelinkServerSettings
  let parts: BoardParts
  let loader: Bootloader
  let slot: Int
  var bootRecord: BootRecord
  var phase = Phase.idle
  var queue = FlashQueue<FlashPurpose>(capacity: operationsMaximum)
  /// The pending notifications, in order.
  var notices: [[UInt8]] = []
  private(set) var request: Request?
  /// Whether the server has accepted the version in the version request; `nil` = the host sent no
  /// version request.
  var isVersionAccepted: Bool?

  init(_ settings: TelinkServerSettings, bootRecord: BootRecord, parts: BoardParts) {
    self.settings = settings
    self.bootRecord = bootRecord
    self.parts = parts
    let layout = parts.settings.layout
    loader = Bootloader(flash: parts.flash, layout: layout)
    slot = layout.slot(bootRecord.inactive)
  }

  // MARK: The end of a transfer

  /// Ends the transfer with an error, which is always fatal. An old SDK reports nothing.
  mutating func fail(_ result: Result) {
    defer { request = .reset }
    if case .ended = phase { return }
    phase = .ended
    notify(0xFF06, [result.rawValue, 0])
  }

  /// Ends the transfer successfully. The result is notified before the mark is written.
  mutating func succeed(with image: [UInt8]) {
    phase = .ended
    notify(0xFF06, [Result.success.rawValue, 0])
    let described = SlotImage(describing: image)
    bootRecord.markPending(described)
    bootRecord.sequence += 1
    let mark = FlashOperation.write(TelinkImage.mark, at: slot + TelinkImage.markOffset)
    offer([mark] + loader.operations(storing: bootRecord), for: .activation(described))
  }

  mutating func notify(_ command: UInt16, _ body: [UInt8]) {
    guard settings.variant == .extended else { return }
    notices.append(command.littleEndianBytes + body)
  }

  mutating func offer(_ operations: [FlashOperation], for purpose: FlashPurpose) {
    // The queue is full only if the flash does not become ready.
    if !queue.offer(operations, for: purpose) { fail(.flashVerify) }
  }

  /// Handles the end of a flash operation: written data is read back and compared.
  mutating func flashDone(_ isDone: Bool) {
    let purpose = queue.finishedOne()
    guard isDone else {
      fail(.flashVerify)
      return
    }
    switch purpose {
    case .data(let bytes, let address):
      guard case .receiving = phase, inFlash(bytes.count, at: address) != Array(bytes) else {
        return
      }
      fail(.flashVerify)
    case .activation(let image): request = .activate(image)
    case nil: break
    }
  }

  private func inFlash(_ count: Int, at address: Int) -> [UInt8]? {
    do throws(FlashFault) { return try parts.flash.read(address..<address + count) } catch {
      parts.note(error)
      return nil
    }
  }

  /// Handles the end of the link: a transfer in progress fails, and the device resets.
  mutating func disconnected() {
    notices.removeAll()
    isVersionAccepted = nil
    guard case .receiving = phase else { return }
    phase = .ended
    request = .reset
  }

  // MARK: Time limits

  /// Checks the time limits of the transfer; returns the next time at which a time limit expires;
  /// `nil` = no transfer is in progress.
  mutating func deadline(at now: LinkInstant) -> LinkInstant? {
    guard case .receiving(let transfer) = phase else { return nil }
    let total = transfer.started.advanced(by: settings.totalLimit)
    let packet = transfer.lastPacket.advanced(by: settings.packetLimit)
    if now >= total {
      fail(.totalTimeout)
    } else if now >= packet {
      fail(.packetTimeout)
    } else {
      return min(total, packet)
    }
    return nil
  }
}
