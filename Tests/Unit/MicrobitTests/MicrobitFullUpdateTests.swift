import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the complete update of a micro:bit over its bootloader: V2 has Secure DFU, V1 legacy
/// DFU.
@Suite struct MicrobitFullUpdateTests {
  @Test(arguments: [
    ("microbit?runtime=other", "microbit"), ("microbit?editor=python", "microbit"),
    ("microbit", "microbit?editor=python"), ("microbit?runtime=other&mtu=23", "microbit"),
    ("microbit-v1?runtime=other", "microbit-v1"),
  ])
  func runtimeAndScriptAreReplaced(_ device: String, _ file: String) throws {
    let image = try program(3000, for: file)
    let outcome = try flash(image, onto: device)
    let result = try outcome.result.get()
    // The bootloader compares the SHA-256 or the CRC16 of the complete application.
    #expect(result.outcome == .flashed && result.proof == .bootloader)
    #expect(outcome.runningImage == image.bytes)
    #expect(!outcome.log.writes.contains(MicrobitCommand.end.encoded))
  }

  /// After the complete update, further programs are sent as scripts.
  @Test(arguments: ["microbit", "microbit-v1"])
  func scriptsCanBeSentAfterwards(_ device: String) throws {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: try SimulationProfile(parsing: "sim:\(device)?runtime=other"), clock: timeline.clock)
    let images = try [program(3000, for: device, seed: 1), program(4000, for: device, seed: 2)]
    let proofs = try timeline.run(limit: .seconds(3600)) { clock -> [UpdateResult.Proof?] in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        var found: [UpdateResult.Proof?] = []
        for image in images {
          let update = FirmwareUpdate(image: image)
          found.append(try? await update.run(on: board.dialer, clock: clock).proof)
        }
        return found
      }
    }
    #expect(proofs == [.bootloader, .readBack])
    #expect(try board.runningImage() == images[1].bytes)
  }

  /// A program that does not use Bluetooth does not advertise after the update.
  @Test(arguments: ["microbit", "microbit-v1"])
  func aProgramWithoutBluetoothHasOnlyRestarted(_ device: String) throws {
    let image = try program(3000, for: device)
    let outcome = try flash(image, onto: device + "?runtime=other&bluetooth=no")
    #expect(try outcome.result.get().outcome == .restarted)
    #expect(outcome.runningImage == image.bytes)
  }

  /// The caller can demand partial flashing, or the complete update.
  @Test func theCallerCanChooseTheProtocol() throws {
    let image = try program(3000)
    let partial = try flash(image, onto: "microbit?runtime=other") {
      $0.updateProtocol = .microbit
    }
    #expect(partial.refusal?.code == "runtime")
    for (device, wanted) in [
      ("microbit", UpdateProtocol.nordicSecure), ("microbit-v1", .nordicLegacy),
    ] {
      let image = try program(3000, for: device)
      let complete = try flash(image, onto: device) { $0.updateProtocol = wanted }
      #expect(try complete.result.get().proof == .bootloader)
      #expect(complete.runningImage == image.bytes)
    }
  }

  /// The values of the vendor's client (microbit-connection, `nordic-dfu.ts`).
  @Test func theInitPacketOfV1MatchesTheBootloader() throws {
    let image = try #require(try program(1000, for: "microbit-v1").legacyDFUPackage)
    let packet = try #require(image.initPacket)
    #expect(packet.bytes.count == 14 && packet.bytes.prefix(8).allSatisfy { $0 == 0xFF })
    #expect(Array(packet.bytes[8..<12]) == [1, 0, 0x64, 0])
    let checksum = CRC16.checksum(image.bytes)
    #expect(Array(packet.bytes[12...]) == [UInt8(checksum & 0xFF), UInt8(checksum >> 8)])
    #expect(image.bytes.count.isMultiple(of: 4))
    #expect(try program(1000).legacyDFUPackage == nil)
  }

  @Test func theInitPacketMatchesTheBootloader() throws {
    let image = try #require(try program(1000).secureDFUPackage)
    let packet = try #require(image.initPacket)
    #expect(packet.bytes.count == 56 && packet.bytes.starts(with: Array("microbit_app".utf8)))
    #expect(Array(packet.bytes[12..<16]) == [1, 0, 0, 0])
    let size: Int = packet.bytes[16..<20].reversed().reduce(0) { $0 << 8 | Int($1) }
    #expect(size == image.bytes.count && size.isMultiple(of: 4))
    #expect(Array(packet.bytes[20..<24]) == [32, 0, 0, 0])
    #expect(Array(packet.bytes[24...].reversed()) == image.sha256)
    #expect(try program(1000, for: "microbit-v1").secureDFUPackage == nil)
  }

  @Test(arguments: [("microbit", 7), ("microbit-v1", 29)])
  func theLinkCanBeCutAtPDUsOfTheCompleteUpdate(_ name: String, _ step: Int) throws {
    let image = try program(200, for: name)
    let device = name + "?runtime=other&erase=0&write=0"
    let clean = try flash(image, onto: device)
    for pdu in stride(from: 1, through: clean.counters.pdus, by: step) {
      let outcome = try flash(image, onto: device + "&cut-at-pdu=\(pdu)")
      #expect(outcome.flashFaults.isEmpty)
      guard case .success(let result) = outcome.result else {
        Issue.record("cut at \(pdu): \(outcome.result)")
        continue
      }
      #expect(result.isVerified && outcome.runningImage == image.bytes, "cut at \(pdu)")
    }
  }
}
