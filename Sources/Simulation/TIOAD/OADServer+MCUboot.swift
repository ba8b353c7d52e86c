import OtaflashFirmware
import OtaflashGATT

/// The profile of CC23xx and later chips with MCUboot (SimpleLink Low Power F3 SDK,
/// `oad_profile.c`). Answers to a command in a wrong state contain the number of the event.
extension OADServer {
  private static let identifyEvent: UInt8 = 0
  private static let blockEvent: UInt8 = 1
  private static let sizeOffset = 12
  private static let identifySize = 16

  mutating func processForMCUboot(_ message: Message, at now: LinkInstant) {
    switch message.target {
    case .identify: identify(message.bytes, at: now)
    case .block:
      guard case .receiving(let transfer) = phase else { return unexpected(Self.blockEvent) }
      receive(message.bytes, transfer, at: now)
    case .control: command(message.bytes)
    }
  }

  private mutating func identify(_ bytes: [UInt8], at now: LinkInstant) {
    guard case .idle = phase else { return unexpected(Self.identifyEvent) }
    guard bytes.count >= Self.identifySize, bytes.littleEndianWord(at: 0) == OADSample.magic else {
      return refuse(.invalidFile)
    }
    let length = Int(bytes.littleEndianWord(at: Self.sizeOffset))
    guard (1...parts.settings.slotSize).contains(length) else { return refuse(.invalidFile) }
    phase = .configured(Transfer(length: length, blockBytes: blockSize - 4))
    lastActivity = now
    notify(.identify, [Status.success.rawValue])
  }

  private mutating func command(_ bytes: [UInt8]) {
    guard let command = bytes.first else { return }
    switch (command, phase) {
    case (0x01, _): notify(.control, [0x01] + UInt16(blockSize).littleEndianBytes)
    case (0x07, _) where settings.reportsVersion: notify(.control, [0x07] + version)
    case (0x03, .configured(let transfer)):
      phase = .receiving(transfer)
      request(0, after: .success)
    case (0x04, .complete(let transfer)): enable(transfer)
    case (0x05, .configured), (0x05, .receiving), (0x05, .complete):
      reset()
      notify(.control, [0x05, Status.success.rawValue])
    case (0x03, _), (0x04, _), (0x05, _): unexpected(command)
    default: notify(.control, [command, Status.unknownCommand.rawValue])
    }
  }

  /// Answers an event that does not fit the state. In the idle state, the profile also resets.
  private mutating func unexpected(_ event: UInt8) {
    if case .idle = phase {
      notify(.control, [event, Status.notStarted.rawValue])
      reset()
    } else {
      notify(.control, [event, Status.alreadyStarted.rawValue])
    }
  }
}
