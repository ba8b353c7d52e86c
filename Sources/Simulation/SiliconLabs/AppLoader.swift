import OtaflashATT
import OtaflashFirmware

/// The AppLoader of Silicon Labs' SDK, which receives a GBL file and overwrites the application.
struct AppLoader: SilabsMachine {
  private enum Phase {
    case idle
    case receiving(GBLStream)
    case failed(ATTErrorCode)
    case accepted
  }

  private let parts: BoardParts
  private let settings: SilabsSettings
  private let loader: Bootloader
  private var record: BootRecord
  private var phase = Phase.idle
  private var erased: Set<Int> = []
  /// The number of bytes from the start of the area to the end of the program.
  private var size = 0
  private(set) var request: SilabsRequest?

  init(_ settings: SilabsSettings, bootRecord: BootRecord, parts: BoardParts) {
    (self.settings, self.parts, record) = (settings, parts, bootRecord)
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
  }

  var dataRefusal: ATTErrorCode? {
    switch phase {
    case .idle, .accepted: .silabsNotReady
    case .receiving: nil
    case .failed(let code): code
    }
  }

  var failure: ATTErrorCode? {
    if case .failed(let code) = phase { code } else { nil }
  }

  mutating func begin(after connected: Duration) -> (refusal: ATTErrorCode?, [FlashOperation]) {
    guard connected >= settings.readyTime else { return (.silabsTooEarly, []) }
    phase = .receiving(GBLStream(requiresSignature: settings.requiresSignature))
    (erased, size) = ([], 0)
    return (nil, [])
  }

  mutating func prepared() {}

  mutating func take(_ bytes: [UInt8]) -> [FlashOperation] {
    guard case .receiving(var stream) = phase else { return [] }
    let found: [GBLStream.Part]
    do throws(GBLStream.Fault) { found = try stream.take(bytes) } catch {
      fail(error == .rejected ? .silabsRejected : .silabsParseError)
      return []
    }
    phase = .receiving(stream)
    return found.flatMap { operations(writing: $0) }
  }

  /// Erases each page before its first write. The record of the application is removed first, so
  /// that an interrupted transfer leaves no application.
  private mutating func operations(writing part: GBLStream.Part) -> [FlashOperation] {
    guard part.address >= GBLAssembly.applicationAddress, part.address.isMultiple(of: 4),
      Int(part.address - GBLAssembly.applicationAddress) + part.bytes.count
        <= parts.settings.slotSize
    else {
      fail(.silabsTooLarge)
      return []
    }
    let offset = Int(part.address - GBLAssembly.applicationAddress)
    let layout = parts.settings.layout
    var operations: [FlashOperation] = []
    if record.images[0].size > 0 {
      record.images[0] = SlotImage()
      record.sequence += 1
      operations = loader.operations(storing: record)
    }
    size = max(size, offset + part.bytes.count)
    let padding = [UInt8](repeating: 0xFF, count: (4 - part.bytes.count % 4) % 4)
    var rest = (part.bytes + padding)[...]
    var address = layout.slot(0) + offset
    while !rest.isEmpty {
      let page = address / layout.pageSize * layout.pageSize
      if erased.insert(page).inserted { operations.append(.erase(page: page)) }
      let piece = rest.prefix(page + layout.pageSize - address)
      operations.append(.write(Array(piece), at: address))
      rest = rest.dropFirst(piece.count)
      address += piece.count
    }
    return operations
  }

  mutating func end() -> (refusal: ATTErrorCode?, [FlashOperation]) {
    switch phase {
    case .idle, .accepted: return (.silabsNotReady, [])
    case .failed(let code): return (code, [])
    case .receiving(let stream) where !stream.isComplete:
      fail(.silabsParseError)
      return (.silabsParseError, [])
    case .receiving: break
    }
    do throws(FlashFault) {
      let start = parts.settings.layout.slot(0)
      let image = SlotImage(describing: try parts.flash.read(start..<start + size))
      record.images[0] = image
      record.sequence += 1
      phase = .accepted
      return (nil, loader.operations(storing: record))
    } catch {
      parts.note(error)
      fail(.silabsFlashFailed)
      return (.silabsFlashFailed, [])
    }
  }

  private mutating func fail(_ code: ATTErrorCode) { phase = .failed(code) }

  mutating func close() { disconnected() }

  mutating func flashFailed() { fail(.silabsFlashFailed) }

  /// Handles the end of a connection: the device leaves the loader if it has an application.
  mutating func disconnected() {
    if case .accepted = phase { request = .activate } else { request = .reset }
  }

  mutating func paused() -> [FlashOperation] { [] }
}
