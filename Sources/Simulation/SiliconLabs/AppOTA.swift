import OtaflashATT
import OtaflashFirmware

/// The application OTA of Silicon Labs' SDK (`app_ota_dfu`): the application stores the file in the
/// second slot, verifies it after the host has disconnected, and lets the bootloader install it. It
/// never reports the result.
struct AppOTA: SilabsMachine {
  private enum Phase {
    case idle
    case erasing
    case receiving
    case failed(ATTErrorCode)
    case ended
    case verifying
    case installing
  }

  /// The time from the end of the connection to the result of the verification.
  private static let verifyTime = Duration.milliseconds(500)

  private let parts: BoardParts
  private let settings: SilabsSettings
  private let loader: Bootloader
  private var record: BootRecord
  private var phase = Phase.idle
  private var received = 0
  /// The bytes after the last complete word.
  private var held: [UInt8] = []
  private(set) var request: SilabsRequest?

  init(_ settings: SilabsSettings, bootRecord: BootRecord, parts: BoardParts) {
    (self.settings, self.parts, record) = (settings, parts, bootRecord)
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
  }

  private var slot: Int { parts.settings.layout.slot(1) }

  var dataRefusal: ATTErrorCode? {
    switch phase {
    case .receiving: nil
    case .failed(let code): code
    case .idle, .erasing, .ended, .verifying, .installing: .silabsNotReady
    }
  }

  var failure: ATTErrorCode? {
    if case .failed(let code) = phase { code } else { nil }
  }

  /// Starts to erase the slot, unless the slot is already blank or being erased, or a file is being
  /// verified or installed. The request always succeeds; data is refused until the slot is erased.
  mutating func begin(after connected: Duration) -> (refusal: ATTErrorCode?, [FlashOperation]) {
    switch phase {
    case .erasing, .verifying, .installing,
      .receiving where received == 0:
      return (nil, [])
    case .idle, .receiving, .failed, .ended: break
    }
    phase = .erasing
    (received, held) = (0, [])
    let layout = parts.settings.layout
    let pages = stride(from: slot, to: slot + layout.slotSize, by: layout.pageSize)
    return (nil, pages.map { .erase(page: $0) })
  }

  mutating func prepared() { if case .erasing = phase { phase = .receiving } }

  mutating func take(_ bytes: [UInt8]) -> [FlashOperation] {
    guard case .receiving = phase else { return [] }
    let start = received - held.count
    guard start + held.count + bytes.count <= parts.settings.slotSize else {
      phase = .failed(.silabsNoRoom)
      return []
    }
    received += bytes.count
    held += bytes
    let words = Array(held.prefix(held.count & ~3))
    held.removeFirst(words.count)
    return words.isEmpty ? [] : [.write(words, at: slot + start)]
  }

  mutating func end() -> (refusal: ATTErrorCode?, [FlashOperation]) {
    guard case .receiving = phase else { return (nil, []) }
    phase = .ended
    guard !held.isEmpty else { return (nil, []) }
    let words = held + [UInt8](repeating: 0xFF, count: 4 - held.count)
    return (nil, [.write(words, at: slot + received - held.count)])
  }

  /// Does nothing: real application OTA only records the request.
  mutating func close() {}

  mutating func flashFailed() { phase = .failed(.silabsWriteFailed) }

  mutating func disconnected() {
    switch phase {
    case .ended:
      phase = .verifying
      request = .pause(Self.verifyTime)
    case .verifying, .installing, .erasing: break
    case .idle, .receiving, .failed: phase = .idle
    }
  }

  /// Verifies the stored file, and marks it for the bootloader. A wrong file is dropped silently.
  mutating func paused() -> [FlashOperation] {
    request = nil
    guard case .verifying = phase else { return [] }
    phase = .idle
    do throws(FlashFault) {
      let file = try parts.flash.read(slot..<slot + received)
      let program = StoredProgram(
        file, requiresSignature: settings.requiresSignature, sizeMaximum: parts.settings.slotSize)
      guard program != nil else { return [] }
      record.markPending(
        SlotImage(
          size: UInt32(file.count), crc32: CRC32.checksum(file),
          version: FirmwareVersion(0, 0, 0), hardware: HardwareID(0)))
      record.sequence += 1
      phase = .installing
      request = .activate
      return loader.operations(storing: record)
    } catch {
      parts.note(error)
      return []
    }
  }
}

/// The program in a complete GBL file, as the bootloader installs it.
struct StoredProgram: Sendable {
  let bytes: [UInt8]

  /// Returns `nil` if the file is wrong or contains no program, or if a part of the program is
  /// outside of the application's area.
  ///
  /// - Parameter sizeMaximum: the size of the area in bytes.
  init?(_ file: [UInt8], requiresSignature: Bool, sizeMaximum: Int) {
    var stream = GBLStream(requiresSignature: requiresSignature)
    let parts: [GBLStream.Part]
    do throws(GBLStream.Fault) { parts = try stream.take(file) } catch { return nil }
    guard stream.isComplete else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard part.address >= GBLAssembly.applicationAddress else { return nil }
      let start = Int(part.address - GBLAssembly.applicationAddress)
      let end = start + part.bytes.count
      guard end <= sizeMaximum else { return nil }
      if bytes.count < end {
        bytes += [UInt8](repeating: 0xFF, count: end - bytes.count)
      }
      bytes.replaceSubrange(start..<end, with: part.bytes)
    }
    guard !bytes.isEmpty else { return nil }
    self.bytes = bytes
  }
}
