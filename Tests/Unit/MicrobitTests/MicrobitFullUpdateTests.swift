import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the complete update of a micro:bit V2, over its Secure DFU bootloader.
@Suite struct MicrobitFullUpdateTests {
  @Test(arguments: [
    ("microbit?runtime=other", "microbit"), ("microbit?editor=python", "microbit"),
    ("microbit", "microbit?editor=python"), ("microbit?runtime=other&mtu=23", "microbit"),
  ])
  func runtimeAndScriptAreReplaced(_ device: String, _ file: String) throws {
    let image = try program(3000, for: file)
    let outcome = try flash(image, onto: device)
    let result = try outcome.result.get()
    // The bootloader compares the SHA-256 of the complete application.
    #expect(result.outcome == .flashed && result.proof == .bootloader)
    #expect(outcome.runningImage == image.bytes)
    #expect(!outcome.log.writes.contains(MicrobitCommand.end.encoded))
  }

  /// After the complete update, further programs are sent as scripts.
  @Test func scriptsCanBeSentAfterwards() throws {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: try SimulationProfile(parsing: "sim:microbit?runtime=other"), clock: timeline.clock)
    let images = try [program(3000, seed: 1), program(4000, seed: 2)]
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
  @Test func aProgramWithoutBluetoothHasOnlyRestarted() throws {
    let image = try program(3000)
    let outcome = try flash(image, onto: "microbit?runtime=other&bluetooth=no")
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
    let complete = try flash(image, onto: "microbit") { $0.updateProtocol = .nordicSecure }
    #expect(try complete.result.get().proof == .bootloader)
    #expect(complete.runningImage == image.bytes)
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

  @Test func theLinkCanBeCutAtPDUsOfTheCompleteUpdate() throws {
    let image = try program(200)
    let device = "microbit?runtime=other&erase=0&write=0"
    let clean = try flash(image, onto: device)
    for pdu in stride(from: 1, through: clean.counters.pdus, by: 7) {
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
