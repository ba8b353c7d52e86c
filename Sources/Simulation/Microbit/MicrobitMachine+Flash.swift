import OtaflashFirmware
import OtaflashGATT

/// The flash of a micro:bit, and the memory map that it finds there.
extension MicrobitMachine {
  var pageSize: Int { settings.board.pageSize }

  /// Returns the address of the page with the mark of an incomplete script, after the pages of the
  /// images.
  static func markPage(of settings: BoardSettings) -> Int { settings.layout.size }

  var markPage: Int { Self.markPage(of: parts.settings) }

  /// The address of the running application in the simulated flash.
  var slot: Int { parts.settings.layout.slot(bootRecord.active) }

  /// Returns the address in the simulated flash of an address in the flash of a real device.
  func simulated(_ address: Int) -> Int {
    address - settings.board.applicationArea.lowerBound + slot
  }

  /// The address of the block in the simulated flash; `nil` if the block is not aligned, or is
  /// outside of the area of programs.
  var flashAddress: Int? {
    let address = simulated(offset)
    guard offset.isMultiple(of: 4), address >= slot,
      address + Self.blockSize <= slot + parts.settings.slotSize
    else {
      parts.note(
        .outOfBounds(address: offset, bytes: Self.blockSize, size: parts.settings.slotSize))
      return nil
    }
    return address
  }

  /// Returns the operations that write the block after the operations `before`; empty if the flash
  /// then already contains the bytes; `nil` if the flash contains other bytes, which real flash
  /// would combine with the block.
  func write(at address: Int, after before: [FlashOperation]) -> [FlashOperation]? {
    let isErased = before.contains {
      if case .erase(let page) = $0 { (page..<page + pageSize).contains(address) } else { false }
    }
    let range = address..<address + Self.blockSize
    let bytes = isErased ? [] : read(range) ?? []
    if bytes == block { return [] }
    guard isErased || bytes.allSatisfy({ $0 == 0xFF }) else {
      parts.note(.notErased(address: address))
      return nil
    }
    return block.allSatisfy { $0 == 0xFF } ? [] : [.write(block, at: address)]
  }

  func isBlank(_ range: Range<Int>) -> Bool {
    (read(range) ?? []).allSatisfy { $0 == 0xFF }
  }

  func read(_ range: Range<Int>) -> [UInt8]? {
    do throws(FlashFault) { return try parts.flash.read(range) } catch {
      parts.note(error)
      return nil
    }
  }

  // MARK: The memory map

  struct Region {
    var start = 0
    var end = 0
    var hash = [UInt8](repeating: 0, count: MicrobitScript.hashSize)
  }

  /// The script in flash; `nil` if neither the mark of MakeCode nor the table of MicroPython is
  /// found.
  var installed: MicrobitScript? {
    let application = read(slot..<slot + parts.settings.slotSize) ?? []
    return MicrobitProgram(
      board: settings.board, start: settings.board.applicationArea.lowerBound,
      application: application
    ).script
  }

  /// The regions, as `MicroBitMemoryMap` finds them in flash.
  var regions: [Region] {
    let start = settings.board.applicationArea.lowerBound
    let slotEnd = start + parts.settings.slotSize
    let script = installed
    var found = [Region](repeating: Region(), count: 3)
    // V1 states its regions even if it does not find the mark.
    guard script != nil || settings.board == .v1 else { return found }
    let scriptStart = script?.area.lowerBound ?? MicrobitSample(settings).scriptStart
    found[0].end = start
    found[1] = Region(start: start, end: scriptStart)
    found[2] = Region(start: scriptStart, end: slotEnd - (settings.board == .v1 ? 1 : 0))
    guard let script else { return found }
    found[1].hash = script.runtimeHash
    if let hash = script.scriptHash { found[2].hash = hash }
    if script.origin == .microPython { found[2].end = script.area.upperBound }
    if parts.settings.faults.contains(.otherImage), !isPairing { found[2].hash[0] ^= 1 }
    return found
  }

  static func bigEndian(_ value: Int) -> [UInt8] {
    UInt32(value).littleEndianBytes.reversed()
  }
}
