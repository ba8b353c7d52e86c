import Glibc
import OtaflashUpdate

/// The CPU time per megabyte of this process and of Bumble, which update the same device one after
/// the other.
struct BumbleComparison {
  struct NoAnswer: Error { let stack: String }

  /// The stacks of `bumble_host.py`, each with the number of megabytes for a run of a few seconds.
  private static let stacks = [("host", 1), ("long-packets", 4), ("client", 16)]
  private static let factor = 100.0

  let sinkDevice: String
  let python: String
  let script: String

  func goal() async throws -> Goal {
    let device = try DeviceProcess(sinkDevice, name: "bumble")
    defer { device.stop() }
    let ours = try await costOfMegabyte(device)
    let ratios = try Self.stacks.map { stack, megabytes in
      try bumblesCostOfMegabyte(device, stack, megabytes) / ours
    }
    let texts = ratios.map { Figure.fixed($0, digits: $0 < 10 ? 1 : 0) }
    return Goal(
      what: "CPU time per megabyte, relative to Bumble 0.0.228 with default settings (its host on "
        + "its virtual controllers)",
      wanted: "≥ \(Figure.fixed(Self.factor, digits: 0)) times less",
      measured:
        "\(texts[0]) times less: \(Figure.fixed(ours * 1000, digits: 2)) ms (\(texts[1]) times "
        + "less than Bumble with packets of 251 instead of 27 bytes; \(texts[2]) times less than "
        + "its GATT client without a host)", isMet: ratios[0] >= Self.factor)
  }

  private func costOfMegabyte(_ device: DeviceProcess) async throws -> Double {
    let host = HostGoals(sinkDevice: sinkDevice)
    _ = try await host.transfer(to: device, size: 1 << 20, repeats: 4)
    let before = ProcessCost.now
    let found = try await host.transfer(to: device, size: 4 << 20, repeats: 16)
    let cost = ProcessCost.now - before
    return cost.processorSeconds / Double(found.reduce(0) { $0 + $1.bytes }) * 1e6
  }

  private func bumblesCostOfMegabyte(
    _ device: DeviceProcess, _ stack: String, _ megabytes: Int
  ) throws -> Double {
    guard let answer = popen("\(python) \(script) \(device.path) \(megabytes) \(stack)", "r") else {
      throw NoAnswer(stack: stack)
    }
    defer { pclose(answer) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), answer) != nil else { throw NoAnswer(stack: stack) }
    let words = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init), as: UTF8.self)
      .split(separator: " ")
    guard words.count == 2, let bytes = Double(words[0]), let seconds = Double(words[1]) else {
      throw NoAnswer(stack: stack)
    }
    return seconds / bytes * 1e6
  }
}
