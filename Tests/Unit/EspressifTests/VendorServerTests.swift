import Foundation
import OtaflashFirmware
import Testing

@testable import OtaflashUpdate

/// The dialog of this host with the vendor's implementation of the device (Fixtures/README.md): the
/// simulated device receives the same writes, and gives the same answers.
@Suite struct VendorServerTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures")

  /// The names of the dialogs, and the packets without response that are lost.
  static let dialogs: [(name: String, lost: Set<Int>)] = [
    ("clean", []), ("lost-packet", [6]), ("lost-last-packet", [19]), ("lost-packets", [3, 21, 45]),
  ]

  @Test(arguments: dialogs)
  func theSimulatedDeviceAnswersLikeTheVendors(_ name: String, _ lost: Set<Int>) throws {
    var interference = Interference()
    interference.packets = { lost.contains($0) ? .lose : .pass }
    let image = try application(5000)
    let outcome = try flash([image], onto: quick("esp-raw", "mtu=247"), interference)
    #expect(outcome.runningImage == image.bytes)
    let lines = Self.lines(outcome.delivered)
    let file = Self.folder.appendingPathComponent(name + ".txt")
    if let target = ProcessInfo.processInfo.environment["OTAFLASH_TRANSCRIPTS"] {
      let writes = lines.filter { $0.hasPrefix("c") || $0.hasPrefix("f") }
      try (writes.joined(separator: "\n") + "\n").write(
        toFile: target + "/" + name + ".txt", atomically: true, encoding: .utf8)
      return
    }
    let dialog = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map(String.init)
    for kinds in [["c", "f"], ["C", "F"]] {
      func selected(_ lines: [String]) -> [String] {
        lines.filter { kinds.contains(String($0.prefix(1))) }
      }
      #expect(selected(lines) == selected(dialog))
    }
  }

  /// The writes as `c` (command) or `f` (firmware), and the answers in upper case.
  private static func lines(_ pdus: [[UInt8]]) -> [String] {
    let answers = Set(pdus.filter { $0.first == 0x1B }.map { $0[1] })
    guard let command = answers.max(), answers.count == 2 else { return [] }
    return pdus.compactMap { pdu in
      guard [0x12, 0x52, 0x1B].contains(pdu[0]), answers.contains(pdu[1]), pdu.count > 5 else {
        return nil
      }
      let isAnswer = pdu[0] == 0x1B
      let kind = pdu[1] == command ? "c" : "f"
      let value = pdu.dropFirst(3).map { String(format: "%02x", $0) }.joined()
      return (isAnswer ? kind.uppercased() : kind) + " " + value
    }
  }
}
