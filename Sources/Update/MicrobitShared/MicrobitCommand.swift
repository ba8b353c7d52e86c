/// A region of the flash, by the index with which a device reports it.
enum MicrobitRegionID: UInt8, Sendable, CaseIterable {
  case softDevice = 0
  /// CODAL, DAL or MicroPython.
  case runtime = 1
  /// The compiled program of MakeCode, or the file system of MicroPython.
  case script = 2
}

/// The program that a micro:bit runs.
enum MicrobitMode: UInt8, Sendable {
  /// No program of the user runs, so that its memory can be written.
  case pairing = 0
  case application = 1
}

/// A command of the host.
enum MicrobitCommand: Equatable, Sendable {
  /// Requests the addresses and the hash of a region. The device then counts packets from 0.
  case region(MicrobitRegionID)
  /// One of the four packets of a block.
  case data([UInt8])
  /// Ends the transfer; the device restarts into the program.
  case end
  /// Requests the version of the service and the mode.
  case status
  /// Restarts the device into a mode.
  case restart(MicrobitMode)

  var encoded: [UInt8] {
    switch self {
    case .region(let id): [0x00, id.rawValue]
    case .data(let bytes): bytes
    case .end: [0x02]
    case .status: [0xEE]
    case .restart(let mode): [0xFF, mode.rawValue]
    }
  }
}

/// A block of 64 bytes at its flash address, as four packets.
struct MicrobitBlock: Equatable, Sendable {
  let address: Int
  /// 64 bytes.
  let bytes: [UInt8]

  /// Returns the four packets. The first has the lower half of the address, the second the upper
  /// half.
  ///
  /// - Parameter first: the number of the first packet; the number after 255 is 0.
  func packets(from first: UInt8) -> [[UInt8]] {
    let halves = [address & 0xFFFF, address >> 16, 0, 0]
    return halves.indices.map { index in
      let part = bytes[(index * MicrobitService.packetSize)...].prefix(MicrobitService.packetSize)
      let half = halves[index]
      return [
        0x01, UInt8(truncatingIfNeeded: half >> 8), UInt8(truncatingIfNeeded: half),
        first &+ UInt8(index),
      ] + part
    }
  }
}
