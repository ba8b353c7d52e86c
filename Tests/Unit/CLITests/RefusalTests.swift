import Foundation
import OtaflashFirmware
import Testing

/// Tests of refusals before the first byte, with the built program, and with a device in another
/// process that counts its flash operations.
@Suite(.waitsForPrograms) struct RefusalTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let profile: String
    /// The arguments of `flash`, without the device. A word such as `@large.bin` is a file that the
    /// test writes.
    let words: [String]
    let status: Int32
    /// The expected error code; `nil` if the command succeeds.
    let code: String?
    /// The number of connections. An invalid file is refused before the first connection.
    let connections: Int

    init(
      _ name: String, _ profile: String, _ words: [String], _ status: Int32, _ code: String?,
      connections: Int
    ) {
      self.name = name
      self.profile = profile
      self.words = words
      self.status = status
      self.code = code
      self.connections = connections
    }

    var testDescription: String { "\(name) on \(profile)" }
  }

  private static let fixtures = "Tests/Unit/FirmwareTests/Fixtures/"
  private static let mcuboot = fixtures + "MCUboot/"
  private static let nordic = fixtures + "Nordic/"
  private static let samples = "firmware-samples/"

  static let mcumgr = [
    Case("tampered", "smp", [mcuboot + "changed.bin"], 65, "E-IMAGE", connections: 0),
    Case(
      "wrong key", "smp", [mcuboot + "ed25519.bin", "--key", nordic + "ed25519.pub.pem"], 77,
      "E-OTHER-SIGNER", connections: 0),
    Case(
      "unsigned", "smp", [mcuboot + "unsigned.bin", "--key", mcuboot + "ed25519.pub.pem"], 65,
      "E-SIGNATURE", connections: 0),
    Case(
      "wrong vendor", "smp", [mcuboot + "every-entry.bin", "--vendor-id", "example.org"], 5,
      "E-WRONG-HARDWARE", connections: 0),
    Case(
      "wrong class", "smp",
      [mcuboot + "every-entry.bin", "--vendor-id", "example.com", "--class-id", "window"], 5,
      "E-WRONG-HARDWARE", connections: 0),
    Case(
      "downgrade", "smp?version=2.0.0", [mcuboot + "ed25519.bin"], 5, "E-DOWNGRADE",
      connections: 1),
    Case(
      "downgrade that the bootloader forbids", "smp?version=2.0.0&no-downgrade=yes&mode=overwrite",
      [mcuboot + "ed25519.bin", "--allow-downgrade"], 5, "E-DEVICE-REFUSED", connections: 1),
    Case(
      "does not fit", "smp?slot=16K", ["@large.bin"], 5, "E-DOES-NOT-FIT", connections: 1),
    Case(
      "for another protocol", "smp", [nordic + "app-signed.zip"], 5, "E-IMAGE-NOT-TAKEN",
      connections: 1),
  ]

  /// X and Y of the public key in Fixtures/Nordic/ecdsa-p256.pub.pem.
  static let fixtureKey =
    "key=a2f375d5dc6b1f7cfe7e558e5104e67e1f9ffc7b89544213456678d6fa604b7d"
    + "7568aa1b2663e3e46fde8da497bc1385caaa714e4c3af363254cdbe8ce86bf19"

  static let secure = [
    Case(
      "not signed at all", "nordic-dfu?sd=0x123", [nordic + "app-unsigned.zip"], 6,
      "E-IMAGE-REJECTED", connections: 2),
    Case(
      "signed by another key", "nordic-dfu?sd=0x100", [nordic + "app-signed.zip"], 6,
      "E-IMAGE-REJECTED", connections: 2),
    Case("tampered", "nordic-dfu", ["@tampered.zip"], 65, "E-IMAGE", connections: 0),
    Case(
      "wrong key", "nordic-dfu",
      [nordic + "app-signed.zip", "--key", mcuboot + "ecdsa-p256.pub.pem"], 65, "E-SIGNATURE",
      connections: 0),
    Case(
      "key of another kind", "nordic-dfu",
      [nordic + "app-signed.zip", "--key", nordic + "ed25519.pub.pem"], 77, "E-OTHER-SIGNER",
      connections: 0),
    Case(
      "unsigned", "nordic-dfu",
      [nordic + "app-unsigned.zip", "--key", nordic + "ecdsa-p256.pub.pem"], 65, "E-SIGNATURE",
      connections: 0),
    Case(
      "downgrade", "nordic-dfu?sd=0x100&\(fixtureKey)",
      [nordic + "app-signed.zip", "--image-version", "1.1.0"], 5, "E-DOWNGRADE", connections: 1),
    // Faults that only the bootloader can detect are reported after the init packet.
    Case(
      "downgrade by the bootloader's count", "nordic-dfu?sd=0x100&fw=8&\(fixtureKey)",
      [nordic + "app-signed.zip"], 5, "E-DEVICE-REFUSED", connections: 2),
    Case(
      "wrong board", "nordic-dfu?sd=0x100&hw=51&\(fixtureKey)", [nordic + "app-signed.zip"], 5,
      "E-DEVICE-REFUSED", connections: 2),
    Case(
      "wrong SoftDevice", "nordic-dfu?\(fixtureKey)", [nordic + "app-signed.zip"], 5,
      "E-DEVICE-REFUSED",
      connections: 2),
    Case(
      "does not fit", "nordic-dfu?slot=16K&key=none", ["@large.zip"], 5, "E-DEVICE-REFUSED",
      connections: 2),
    Case(
      "already current", "nordic-dfu",
      [nordic + "app-signed.zip", "--image-version", "1.2.0"], 0, nil, connections: 1),
  ]

  static let own = [
    Case("tampered", "fast", [samples + "damaged-1.4.0.hex"], 65, "E-IMAGE", connections: 0),
    Case(
      "unsigned", "fast", [samples + "app-1.3.0.bin", "--key", mcuboot + "ed25519.pub.pem"], 65,
      "E-SIGNATURE", connections: 0),
    Case(
      "wrong board", "fast", [samples + "other-board-2.0.0.bin"], 5, "E-WRONG-HARDWARE",
      connections: 1),
    Case("downgrade", "fast", [samples + "blink-1.0.0.bin"], 5, "E-DOWNGRADE", connections: 1),
    Case(
      "does not fit", "fast?slot=64K", [samples + "app-1.3.0.bin"], 5, "E-DOES-NOT-FIT",
      connections: 1),
    Case(
      "no key", "fast?key=00112233", [samples + "app-1.3.0.bin"], 77, "E-AUTHORIZATION-REQUIRED",
      connections: 1),
  ]

  @Test(arguments: mcumgr + secure + own)
  func refusalsDoNotWriteTheFlash(_ given: Case) throws {
    let device = try Device(given.profile)
    let outcome = try device.flash(given.words)
    let served = try device.end()
    #expect(outcome.status == given.status, "\(outcome.errors)")
    #expect(outcome.code == given.code, "\(outcome.errors)")
    #expect(served.count == given.connections, "\(outcome.errors)")
    #expect(served.allSatisfy { $0.isUntouched }, "\(served)")
  }

  /// The same devices accept suitable images, and options override refusals, which shows that the
  /// counters work. A second command, which the test omits for Nordic's protocol, finds that the
  /// device already runs the image.
  @Test(arguments: [
    ("smp?erase=0&write=0&version=2.0.0", [mcuboot + "ed25519.bin", "--allow-downgrade"]),
    ("smp?erase=0&write=0", [mcuboot + "ed25519.bin", "--key", mcuboot + "ed25519.pub.pem"]),
    (
      "nordic-dfu?erase=0&sd=0x100&\(fixtureKey)",
      [
        nordic + "app-signed.zip", "--key", nordic + "ecdsa-p256.pub.pem", "--image-version",
        "1.1.0",
        "--allow-downgrade",
      ]
    ),
    ("fast", [samples + "blink-1.0.0.bin", "--allow-downgrade"]),
    ("fast", [samples + "other-board-2.0.0.bin", "--allow-other-hardware"]),
    ("fast?version=0.9.0", ["@any-board.bin"]),
  ])
  func permittedImagesAreWritten(_ profile: String, _ words: [String]) throws {
    let device = try Device(profile)
    let flashed = try device.flash(words)
    #expect(flashed.status == 0, "\(flashed.errors)")
    let again = try profile.hasPrefix("nordic") ? nil : device.flash(words)
    let served = try device.end()
    #expect(served.contains { !$0.isUntouched }, "\(served)")
    guard let again else { return }
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.output.contains("already running"), "\(again.output)")
    #expect(try #require(served.last).isUntouched, "\(served)")
  }
}

/// A simulated device in a separate process.
private final class Device {
  /// The activity of the device for one host.
  struct Served: Decodable {
    let type: String
    let pagesErased: Int?
    let bytesWritten: Int?

    var isUntouched: Bool { pagesErased == 0 && bytesWritten == 0 }
  }

  private let program: Program
  private let process: RunningProgram
  private var socket: String { program.home.path + "/d" }

  init(_ profile: String) throws {
    program = try Program()
    process = try program.start([
      "simulate", "--listen", program.home.path + "/d", "--profile", profile, "--json",
    ])
    try #require(SignalTests.waitForFile(socket))
  }

  func flash(_ words: [String]) throws -> Program.Outcome {
    let words = try words.map { word in
      try word.hasPrefix("@") ? write(String(word.dropFirst())) : word
    }
    return try program.run(["flash"] + words + ["-d", "unix:" + socket])
  }

  /// Stops the device, and returns the activity for each host.
  func end() throws -> [Served] {
    process.send(SIGTERM)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try process.end().output.split(separator: "\n")
      .map { try decoder.decode(Served.self, from: Data($0.utf8)) }.filter { $0.type == "served" }
  }

  // MARK: Files

  private func write(_ name: String) throws -> String {
    switch name {
    case "large.bin": try program.file(name, Self.mcuboot(bodySize: 20_000))
    case "any-board.bin":
      try program.file(
        name,
        ImageDescriptor(version: FirmwareVersion(1, 0, 0), hardware: nil).encoded
          + [UInt8](repeating: 0x5A, count: 2000))
    default: try package(name)
    }
  }

  /// Writes a package of nrfutil whose firmware has one changed bit or is larger; returns the path
  /// of the package.
  private func package(_ name: String) throws -> String {
    let path = program.home.appending(path: name).path
    let script = """
      import hashlib, sys, zipfile
      source, target, kind = sys.argv[1:]
      with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
          firmware, packet = old.read("app.bin"), bytearray(old.read("app.dat"))
          if kind == "tampered.zip":
              firmware = bytes([firmware[0] ^ 1]) + firmware[1:]
          else:
              large = bytes(20000)
              # app_size, 500, becomes 20000, one byte longer; so do the two messages around it.
              packet = packet.replace(b"\\x38\\xf4\\x03", b"\\x38\\xa0\\x9c\\x01")
              packet[1] += 1
              packet[5] += 1
              hashes = [hashlib.sha256(content).digest()[::-1] for content in (firmware, large)]
              firmware, packet = large, packet.replace(*hashes)
          for name in old.namelist():
              content = {"app.bin": firmware, "app.dat": bytes(packet)}.get(name, old.read(name))
              new.writestr(name, content)
      """
    let source = Program.root.appending(
      path: "Tests/Unit/FirmwareTests/Fixtures/Nordic/app-unsigned.zip")
    let made = try Program.runTool(["python3", "-c", script, source.path, path, name])
    try #require(made.status == 0, "\(made.errors)")
    return path
  }

  /// Returns an unsigned image of version 9.0.0 (MCUboot design, image format).
  private static func mcuboot(bodySize: Int) -> [UInt8] {
    func littleEndian(_ value: Int, _ bytes: Int) -> [UInt8] {
      (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let header =
      littleEndian(0x96F3_B83D, 4) + littleEndian(0, 4) + littleEndian(32, 2) + littleEndian(0, 2)
      + littleEndian(bodySize, 4) + littleEndian(0, 4) + [9, 0, 0, 0] + littleEndian(0, 8)
    let covered = header + [UInt8](repeating: 0x5A, count: bodySize)
    let hash = FirmwareImage(
      name: "", format: .binary, bytes: covered, version: nil, hardware: nil
    ).sha256
    return covered + littleEndian(0x6907, 2) + littleEndian(40, 2) + littleEndian(0x10, 2)
      + littleEndian(32, 2) + hash
  }
}
