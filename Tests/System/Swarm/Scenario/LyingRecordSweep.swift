import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// A corruption of a device's resume record.
public enum RecordLie: String, CaseIterable, Sendable {
  /// The record is erased.
  case erased
  /// One bit is wrong.
  case flippedBit
  /// The record states half of the progress.
  case stale
  /// The record states a later offset, and so claims data that flash does not hold.
  case ahead
  /// The record states another image of the same size.
  case foreign
  /// The record consists of random bytes.
  case noise
}

/// The flash of a device after each operation of a run without faults, to simulate a power failure
/// at any moment, together with a corrupted record.
public struct LyingRecordSweep: Sendable {
  private static let pageSize = 4096

  private let scenario: Scenario
  private let history: FlashHistory
  private let foreign: FlashHistory
  private let records: Range<Int>

  /// - Parameter scenario: a scenario without faults.
  public init(_ scenario: Scenario) throws(ScenarioFault) {
    self.scenario = scenario
    history = try FlashHistory(of: scenario)
    var other = scenario
    other.image = .drawn(size: scenario.image.bytes.count, seed: 99)
    foreign = try FlashHistory(of: other)
    let slots = 2 * (try scenario.settings().slotSize)
    records = slots..<slots + 2 * Self.pageSize
  }

  /// The number of flash operations in the run without faults.
  public var operations: Int { history.operations }

  /// Returns the violations in the update after a power failure at this operation.
  public func violations(_ lie: RecordLie, at operation: Int) throws(ScenarioFault) -> [Violation] {
    let flash = history.flash(after: operation)
    flash.write(record(lie, at: operation), at: records.lowerBound)
    var resumed = scenario
    resumed.mustSucceed = true
    return try resumed.run(storage: flash).violations(of: resumed).filter {
      !Self.isOwed($0, to: lie)
    }
  }

  /// Returns whether the corruption itself causes the violation. The device cannot write to a
  /// location that the corruption has programmed; it detects this by a failed write and uses the
  /// next location.
  private static func isOwed(_ violation: Violation, to lie: RecordLie) -> Bool {
    if case .flashRule(.notErased) = violation { true } else { false }
  }

  private func record(_ lie: RecordLie, at operation: Int) -> [UInt8] {
    var random = SeededRandom(seed: UInt64(operation))
    var record = history.flash(after: operation).read(records)
    switch lie {
    case .erased: return [UInt8](repeating: 0xFF, count: records.count)
    case .flippedBit:
      let used = record.indices.filter { record[$0] != 0xFF }
      guard let index = used.randomElement(using: &random) else { return record }
      record[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
      return record
    case .stale: return history.flash(after: operation / 2).read(records)
    case .ahead:
      return history.flash(after: (operation + history.operations) / 2).read(records)
    case .foreign: return foreign.flash(after: min(operation, foreign.operations)).read(records)
    case .noise: return random.bytes(count: records.count)
    }
  }
}

/// Records every write to a device's flash during a run, so that the content after any write can be
/// restored.
private final class FlashHistory: FlashMedium {
  private let memory: FlashMemory
  private let factory: FlashMemory
  private let writes = Mutex<[(bytes: [UInt8], address: Int)]>([])

  var size: Int { memory.size }
  var operations: Int { writes.withLock { $0.count } }

  init(of scenario: Scenario) throws(ScenarioFault) {
    let size = try scenario.settings().flashSize
    memory = FlashMemory(size: size)
    factory = FlashMemory(size: size)
    // A new board writes its factory image, and the history starts after that.
    _ = try Scenario.factory(scenario.profile, storage: memory)
    factory.write(memory.read(0..<size), at: 0)
    _ = try scenario.run(storage: self)
  }

  func read(_ range: Range<Int>) -> [UInt8] { memory.read(range) }

  func write(_ bytes: [UInt8], at address: Int) {
    memory.write(bytes, at: address)
    writes.withLock { $0.append((bytes, address)) }
  }

  func flash(after operation: Int) -> FlashMemory {
    let flash = FlashMemory(size: size)
    flash.write(factory.read(0..<size), at: 0)
    writes.withLock { writes in
      for write in writes.prefix(operation) { flash.write(write.bytes, at: write.address) }
    }
    return flash
  }
}
