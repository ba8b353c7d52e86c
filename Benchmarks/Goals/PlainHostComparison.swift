import Glibc
import OtaflashUpdate
import PlainHost

/// The CPU time per byte of otaflash, divided by the CPU time per byte of a `send` and `recv` loop
/// in C (Benchmarks/PlainHost) that sends the same PDUs to the same device. The measurements
/// alternate, so that the load of the machine affects both programs. The reported ratio is the
/// median of the pairs.
struct PlainHostComparison {
  struct TransferFailed: Error { let errno: Int32 }

  private static let pairs = 5
  private static let bytesOfHalf = 32 << 20
  private static let ratioLimit = 1.5
  /// The smallest image size with a limit: for smaller images, the one-time setup dominates.
  private static let limitedFrom = 1 << 20
  private static let sizes = [64 << 10, 1 << 20, 16 << 20]

  /// The result for one size; costs are in ns per byte.
  private struct Finding {
    let size: Int
    let ours: Double
    let plain: Double
    let ratio: Double
    /// The resident memory in MB, without the image.
    let memory: Double
    let chunk: Int
  }

  let goals: HostGoals
  let device: DeviceProcess

  func all() async throws -> [Goal] {
    var findings: [Finding] = []
    for size in Self.sizes { findings.append(try await compare(size)) }
    return [pduGoal(findings[1]), growthGoal(findings)]
  }

  private func pduGoal(_ found: Finding) -> Goal {
    func microseconds(_ nanosecondsPerByte: Double) -> String {
      Figure.fixed(nanosecondsPerByte * Double(found.chunk) / 1000, digits: 2) + " µs"
    }
    return Goal(
      what: "CPU time per PDU of \(found.chunk + 4) bytes, relative to a C program that sends the "
        + "same PDUs",
      wanted: "≤ \(Figure.fixed(Self.ratioLimit)) times",
      measured: "\(Figure.fixed(found.ratio, digits: 2)) times "
        + "(\(microseconds(found.ours)) compared with \(microseconds(found.plain)))",
      isMet: found.ratio <= Self.ratioLimit)
  }

  private func growthGoal(_ findings: [Finding]) -> Goal {
    let ratios = findings.map { Figure.fixed($0.ratio, digits: 2) }.joined(separator: ", ")
    let costs = findings.map { Figure.fixed($0.ours, digits: 2) }.joined(separator: ", ")
    let memory = findings.map { Figure.fixed($0.memory) }.joined(separator: ", ")
    let growth = findings[findings.count - 1].memory - findings[0].memory
    return Goal(
      what: "CPU time per byte for images of 64 KiB, 1 MiB and 16 MiB, relative to a C program "
        + "that sends the same PDUs",
      wanted: "≤ \(Figure.fixed(Self.ratioLimit)) times for images of 1 MiB and more; constant "
        + "memory",
      measured: "\(ratios) times (\(costs) ns); memory without the image \(memory) MB",
      isMet: growth < 8
        && findings.allSatisfy { $0.size < Self.limitedFrom || $0.ratio <= Self.ratioLimit })
  }

  private func compare(_ size: Int) async throws -> Finding {
    let repeats = max(1, Self.bytesOfHalf / size)
    var halves: [(ours: Double, plain: Double)] = []
    var chunk = 0
    for _ in 0..<Self.pairs {
      let before = ProcessCost.now
      let found = try await goals.transfer(to: device, size: size, repeats: repeats)
      let between = ProcessCost.now
      chunk = found[0].chunk
      let result = plain_host_transfer(device.path, UInt32(size), UInt32(repeats), UInt32(chunk))
      guard result == 0 else { throw TransferFailed(errno: result) }
      let after = ProcessCost.now
      halves.append(
        (
          Self.nanosecondsPerByte(between - before, size * repeats),
          Self.nanosecondsPerByte(after - between, size * repeats)
        ))
    }
    let middle = halves.sorted { $0.ours / $0.plain < $1.ours / $1.plain }[halves.count / 2]
    return Finding(
      size: size, ours: middle.ours, plain: middle.plain, ratio: middle.ours / middle.plain,
      memory: ProcessCost.residentMegabytes - Double(size) / 1e6, chunk: chunk)
  }

  private static func nanosecondsPerByte(_ cost: ProcessCost, _ bytes: Int) -> Double {
    cost.processorSeconds / Double(bytes) * 1e9
  }
}
