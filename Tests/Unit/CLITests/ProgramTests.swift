import Foundation
import Testing

@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// Tests that run the built program as a shell does.
@Suite(.waitsForPrograms) struct ProgramTests {
  private static let fixtures = "Tests/Unit/FirmwareTests/Fixtures/"
  static let lines: [([String], Int32)] = [
    (["--version"], 0), (["flash", "--help"], 0), ([], 64), (["image"], 64), (["flsh"], 64),
    (["flash", "--bogus"], 64), (["flash", "nofile", "-d", "sim:"], 66),
    (["image", "info", "firmware-samples"], 66),
    (["image", "verify", "firmware-samples/app-1.3.0.bin"], 0),
    (["image", "verify", "firmware-samples/damaged-1.4.0.hex"], 65),
    (["image", "verify", "--crc32", "00000000", "firmware-samples/app-1.3.0.bin"], 65),
    (["image", "verify", fixtures + "MCUboot/unsigned.bin"], 0),
    (["image", "verify", fixtures + "MCUboot/encrypted.bin"], 0),
    (["image", "verify", fixtures + "Nordic/legacy-everything.zip"], 0),
    (verify("MCUboot/ed25519.bin", "MCUboot/ed25519"), 0),
    (verify("Nordic/legacy-0.8.zip", "Nordic/legacy"), 0),
    (verify("Nordic/legacy-0.8.zip", "Nordic/ecdsa-p256"), 65),
    (verify("Nordic/legacy-0.7.zip", "Nordic/legacy"), 65),
    (verify("MCUboot/every-entry.bin", "MCUboot/ed25519") + ["--vendor-id", "example.com"], 0),
    (
      verify("MCUboot/every-entry.bin", "MCUboot/ed25519")
        + ["--vendor-id", "example.com", "--class-id", "window"], 5
    ),
    (["image", "verify", fixtures + "MCUboot/unsigned.bin", "--class-id", "door"], 64),
    (verify("MCUboot/changed.bin", "MCUboot/ed25519"), 65),
    (verify("MCUboot/ed25519.bin", "MCUboot/ecdsa-p256"), 77),
    (verify("Nordic/everything.zip", "Nordic/ecdsa-p256"), 0),
    (verify("Nordic/everything.zip", "MCUboot/ecdsa-p256"), 65),
    (verify("DeviceManager/two-images.zip", "MCUboot/ed25519"), 0),
    (
      ["flash", "firmware-samples/app-1.3.0.bin", "-d", "unix:\(Program.homePlaceholder)/none"], 69
    ),
    (["flash", "firmware-samples/other-board-2.0.0.bin", "-d", "sim:fast"], 5),
    (["completion", "fish"], 0), (["info", "-d", "sim:fast?security=authenticated"], 0),
    (["info", "-d", "sim:fast", "--capture", "/dev/full"], 73),
    (["info", "-d", "sim:fast", "--capture", Program.homePlaceholder + "/none/file"], 73),
    (["unpair", "-d", "sim:fast"], 64),
  ]

  private static func verify(_ file: String, _ key: String) -> [String] {
    ["image", "verify", fixtures + file, "--key", fixtures + key + ".pub.pem"]
  }

  @Test func theContentOfAnImageIsShown() throws {
    let image = try Program().run(["image", "info", Self.fixtures + "MCUboot/every-entry.bin"])
    for row in [
      "kind +mcuboot", "version +255.254.65535\\+4294967295", "load address +0x20000000",
      "flags +runs from RAM", "hash +SHA-256, whole", "counter +7",
      "needs +image 1, at least 2.3.4\\+5", "needs +image 2, at least 0.9.0",
      "protected +0x0050 security counter, 4 B: 07000000",
      "protected +0x00a5 vendor's own 0x00A5, 4 B", "entry +0x0024 Ed25519 signature, 64 B",
    ] {
      #expect(image.output.firstMatch(of: try Regex("(?m)^" + row)) != nil, "\(row)")
    }
    let compressed = try Program().run(["image", "info", Self.fixtures + "Compressed/lzma2.bin"])
    for row in [
      "flags +compressed with LZMA2", "decompressed +6,052 B, header and body",
      "runs as +33540fa6d7b2421cc0499baad4a135f5dbc09d429a5ea4a72c44483b9c2f9c99",
      "protected +0x0070 decompressed size, 4 B: 84170000",
    ] {
      #expect(compressed.output.firstMatch(of: try Regex("(?m)^" + row)) != nil, "\(row)")
    }
    let package = try Program().run(["image", "info", Self.fixtures + "Nordic/everything.zip"])
    for row in [
      "part +SoftDevice and bootloader", "parts +SoftDevice 320 B, bootloader 260 B",
      "hw version +52", "SoftDevices +0x0100", "signed +yes, ECDSA P-256", "hash +SHA-256, whole",
      "fw version +7",
    ] {
      #expect(package.output.firstMatch(of: try Regex("(?m)^" + row)) != nil, "\(row)")
    }
    for (name, softdevices) in [
      ("app-debug", "any"), ("app-ed25519", "none needed (0x0000)"),
      ("app-signed", "0x0100, 0x0123"), ("legacy-0.8", "0x0064, any"),
      ("legacy-hex", "none listed"),
    ] {
      let info = try Program().run(["image", "info", Self.fixtures + "Nordic/\(name).zip"])
      #expect(info.output.contains("SoftDevices  \(softdevices)\n"), "\(info.output)")
    }
    let changed = try Program().run(["image", "info", Self.fixtures + "MCUboot/changed.bin"])
    #expect(changed.status == 0)
    #expect(changed.output.contains("SHA-256, changed"))
  }

  @Test(arguments: [
    ("Nordic/app-signed.zip", "sim:smp", "an MCUboot image (zephyr.signed.bin, app_update.bin)"),
    ("MCUboot/ed25519.bin", "sim:nordic-dfu", "a ZIP package from 'nrfutil pkg generate'"),
    ("MCUboot/ed25519.bin", "sim:nordic-legacy", "a ZIP package from"),
  ])
  func formatsOfTheDevicesProtocolAreShown(
    _ image: String, _ device: String, _ words: String
  ) throws {
    let outcome = try Program().run(["flash", Self.fixtures + image, "-d", device])
    #expect(outcome.status == 5 && outcome.code == "E-IMAGE-NOT-TAKEN", "\(outcome.errors)")
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
  }

  @Test func everyImageOfAPackageHasAForecast() throws {
    let nordic = try Program().run([
      "info", Self.fixtures + "Nordic/everything.zip", "-d", "sim:nordic-dfu",
    ])
    #expect(nordic.status == 0, "\(nordic.errors)")
    #expect(
      nordic.output.contains(
        "sd_bl.bin: flash would send 580 B: 1.2.0 → an image without a version\n"
          + "app.bin: flash would send 500 B: 1.2.0 → an image without a version\n"
          + "next:   "), "\(nordic.output)")
    let mcuboot = try Program().run([
      "info", Self.fixtures + "DeviceManager/two-images.zip", "-d", "sim:smp?images=2",
    ])
    #expect(
      mcuboot.output.contains(
        "app.signed.bin: flash would send 476 B: 1.2.0 → 1.2.3+4\n"
          + "net.signed.bin: flash would send 476 B: 1.2.3+4\n"), "\(mcuboot.output)")
    // The refusal of one image prevents the update of the other.
    let single = try Program().run([
      "info", Self.fixtures + "DeviceManager/two-images.zip", "-d", "sim:smp",
    ])
    #expect(
      single.output.hasSuffix(
        "app.signed.bin: flash would send 476 B: 1.2.0 → 1.2.3+4\n"
          + "net.signed.bin: flash would refuse (E-DEVICE-REFUSED): "
          + "the device refused during prepare: it has no image 1 (no image)\n"),
      "\(single.output)")
    let stranger = try Program().run([
      "info", Self.fixtures + "Nordic/everything.zip", "-d", "sim:smp",
    ])
    #expect(
      stranger.output.components(separatedBy: "flash would refuse (E-IMAGE-NOT-TAKEN)").count == 3)
    #expect(!stranger.output.contains("next:"))
  }

  /// FirmwareTests compare these packages with the output of the vendors' tools.
  @Test func aLegacyPackageIsAnEvent() throws {
    let packet = try Program().run([
      "image", "info", Self.fixtures + "Nordic/legacy-0.8.zip", "--json",
    ]).output
    for member in [
      #""protocol":"legacy-dfu","device_type":82,"device_revision":3,"app_version":9,"#
        + #""sd_req":[100,65534],"extension":2,"firmware_size":500,"hash":""#,
      #""signed":true"#,
    ] {
      #expect(packet.contains(member), "\(packet)")
    }
    let plain = try Program().run([
      "image", "info", Self.fixtures + "Nordic/legacy-0.5.zip", "--json",
    ]).output
    #expect(plain.contains(#""sd_req":[100,65534],"crc16":52706,"signed":false"#), "\(plain)")
  }

  @Test func aSignedImageIsFlashed() throws {
    let outcome = try Program().run([
      "flash", Self.fixtures + "MCUboot/ed25519.bin", "-d", "sim:fast", "--key",
      Self.fixtures + "MCUboot/ed25519.pub.pem", "--allow-unknown", "--image-version", "9.9.9",
      "--hardware", "0x0000A001", "--dry-run",
    ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("complete, signed with the key of"))
  }

  @Test(arguments: lines)
  func exitCodesMatchTheManual(_ words: [String], _ status: Int32) throws {
    let outcome = try Program().run(words)
    #expect(outcome.status == status, "\(outcome.errors)")
  }

  @Test(arguments: [
    ["devices"], ["doctor"], ["flash", "nofile", "-d", "sim:"], ["flsh"], ["flash"], ["explain"],
    ["image", "info", "firmware-samples/app-1.3.0.bin"], ["simulate", "--reset"],
    ["image", "info", fixtures + "MCUboot/every-entry.bin"],
    ["image", "info", fixtures + "MCUboot/changed.bin"],
    ["image", "info", fixtures + "MCUboot/confirmed.bin"],
    ["image", "info", fixtures + "Nordic/everything.zip"],
    ["image", "info", fixtures + "Nordic/legacy-everything-0.8.zip"],
    ["image", "info", fixtures + "Nordic/legacy-any.zip"],
    ["image", "info", fixtures + "SRecord/firmware-32.srec"],
    ["info", fixtures + "Nordic/everything.zip", "-d", "sim:nordic-dfu"],
    ["info", fixtures + "Nordic/everything.zip", "-d", "sim:smp"],
    ["flash", fixtures + "Nordic/legacy-0.5.zip", "-d", "sim:infinitime"],
    ["flash", fixtures + "Telink/app.bin", "-d", "sim:telink"],
    ["flash", fixtures + "SUOTA/app.img", "-d", "sim:suota"],
    ["flash", fixtures + "TIOAD/app.bin", "-d", "sim:ti-oad"],
    ["image", "info", fixtures + "TIOAD/app.bin"],
    ["flash", fixtures + "Microbit/program.hex", "-d", "sim:microbit"],
    ["flash", fixtures + "Espressif/app.bin", "-d", "sim:esp-raw"],
    ["flash", fixtures + "SiliconLabs/app.gbl", "-d", "sim:silabs"],
    ["image", "verify", fixtures + "DeviceManager/two-images.zip"],
    ["image", "info", fixtures + "UF2/gap.uf2"],
    ["image", "info", fixtures + "Compressed/lzma2armthumb.bin"],
    ["image", "info", fixtures + "ELF/firmware-32.elf"],
    ["info", "-d", "sim:fast"], ["info", "firmware-samples/app-1.3.0.bin", "-d", "sim:fast"],
    ["info", "firmware-samples/other-board-2.0.0.bin", "-d", "sim:fast"],
    ["info", "firmware-samples/app-1.2.0.bin", "-d", "sim:fast"],
    [
      "flash", "firmware-samples/blink-1.0.0.bin", "-d", "sim:fast", "--allow-downgrade", "--mode",
      "without-response",
    ],
    ["bench", "-d", "sim:fast", "--mtu", "247,best", "--size", "16K"],
    [
      "bench", "--image", "firmware-samples/blink-1.0.0.bin", "firmware-samples/app-1.2.0.bin",
      "-d", "sim:fast", "--mtu", "best", "--mode", "without-response", "--size", "16K",
    ],
  ])
  func everyStreamObeysItsRulesAndTheSchema(_ words: [String]) throws {
    let outcome = try Program().run(words + ["--json"])
    try Program.checkEvents(of: outcome)
  }

  @Test func aDamagedJournalIsRenamedAndReported() throws {
    let program = try Program()
    let journal = program.home.appending(path: "otaflash/journal")
    try FileManager.default.createDirectory(at: journal, withIntermediateDirectories: true)
    let note = journal.path + "/sim%3Afast.json"
    try Data("{".utf8).write(to: URL(filePath: note))
    let outcome = try program.run([
      "flash", "firmware-samples/app-1.3.0.bin", "-d", "sim:fast", "--dry-run",
    ])
    #expect(outcome.status == 0)
    #expect(
      outcome.errors.contains("the damaged journal of an earlier run is now \(note).damaged"),
      "\(outcome.errors)")
  }

  @Test func theManualMatchesTheGrammar() throws {
    let check = try Program.runTool(["python3", "man/generate", Program.path(), "--check"])
    #expect(check.status == 0, "\(check.errors)")
    let overview = try String(
      contentsOf: Program.root.appending(path: "man/otaflash.1"), encoding: .utf8)
    for code in FaultCode.allCases {
      let name = code.rawValue.replacing("-", with: "\\-")
      #expect(overview.contains(".It \(name)\n"), "\(code.rawValue)")
    }
  }
}
