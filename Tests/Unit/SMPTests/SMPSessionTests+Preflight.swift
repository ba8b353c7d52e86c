import Crypto
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashWire
import Testing

@testable import OtaflashUpdate

/// Tests of refusals before the first byte, and of their messages.
extension SMPSessionTests {
  @Test("an older image is refused; the build number is compared")
  func downgrade() throws {
    let running = bootableBytes(MCUbootVersion(1, 0, 0, build: 7))
    let server = FakeServer(running: running)
    let image = try bootable(MCUbootVersion(1, 0, 0, build: 6), seed: 2)
    let result = try update(server, to: image)
    #expect(
      result.outcome
        == .failure(
          .olderBuild(
            running: MCUbootVersion(1, 0, 0, build: 7), image: MCUbootVersion(1, 0, 0, build: 6))))
    try expectFlashed(try update(server, to: image) { $0.allowsDowngrade = true }, server, image)
  }

  @Test("an image that the bootloader would never start is not sent")
  func neverStarts() throws {
    let image = try Self.image(MCUbootVersion(0, 9, 0))
    for adjust: (inout FakeServer.Settings) -> Void in [
      { $0.mode = .directXIP }, { $0.forbidsDowngrade = true },
    ] {
      let server = Self.server(adjust)
      let result = try update(server, to: image) { $0.allowsDowngrade = true }
      guard case .failure(.declined(.prepare, let refusal)) = result.outcome else {
        throw Mismatch(result.outcome)
      }
      #expect(refusal.kind == .unsuitable && server.state.uploadRequests == 0)
    }
  }

  @Test("an image with flags that MCUboot never starts, or would wrongly decrypt, is not sent")
  func flags() throws {
    for (flag, refusal) in [(UInt8(0x10), ProtocolRefusal.notBootable), (0x04, .inTheClear)] {
      let server = Self.server()
      var bytes = bootableBytes(MCUbootVersion(1, 1, 0))
      bytes[16] = flag
      // The hash follows magic, size, type and length. It covers the changed header, and the body.
      let covered = bytes.count - 40
      bytes.replaceSubrange(
        (covered + 8)..., with: Array(SHA256.hash(data: bytes[..<covered])))
      let image = FirmwareImage(
        name: "app.bin", format: .binary, bytes: bytes, version: FirmwareVersion(1, 1, 0),
        hardware: nil, content: .mcuboot(try MCUbootImage(decoding: bytes), place: MCUbootPlace()))
      let result = try update(server, to: image)
      #expect(result.outcome == .failure(.declined(.prepare, refusal)))
      #expect(server.state.uploadRequests == 0)
    }
  }

  @Test("an image for the active slot is not sent to the other slot")
  func wrongSlot() throws {
    let server = Self.server { $0.mode = .directXIP }
    let image = try bootable(MCUbootVersion(1, 1, 0), place: MCUbootPlace(slot: 0))
    let result = try update(server, to: image)
    #expect(result.outcome == .failure(.declined(.prepare, .builtForRunningSlot(0))))
  }

  @Test("an image that does not fit is refused")
  func tooLarge() throws {
    let server = Self.server { $0.slotSize = 4_096 }
    let image = try Self.image()
    let result = try update(server, to: image)
    #expect(
      result.outcome == .failure(.doesNotFit(imageSize: image.bytes.count, slotSize: 4_096)))
  }

  @Test("a link with writes shorter than an image's header is refused")
  func shortWrites() throws {
    let server = Self.server { $0.reassembles = false }
    let result = try update(server, to: try Self.image()) { $0.mtu = 23 }
    #expect(
      result.outcome == .failure(.declined(.prepare, .packetsTooShort(20, least: 98))))
    #expect(server.state.uploadRequests == 0)
  }

  @Test("this protocol refuses a plain image")
  func plainImage() throws {
    let image = FirmwareImage(
      name: "plain.bin", format: .binary, bytes: [1, 2, 3], version: nil, hardware: nil)
    let result = try update(Self.server(), to: image)
    #expect(result.outcome == .failure(.imageNotTaken(by: [.smp])))
  }

  @Test(
    "if no slot is free, the flags explain why, for every code",
    arguments: [
      SMPRefusal(.general(2)), SMPRefusal(.general(5)), SMPRefusal(.general(6)),
      SMPRefusal(.group(.image, 9)),
    ])
  func noFreeSlot(refusal: SMPRefusal) throws {
    for (isPending, words) in [
      (true, "no slot is free: 1.1.0 in slot 1 is pending"),
      (
        false,
        "no slot is free: it runs 1.0.0 on trial, and keeps the previous image to revert to"
      ),
    ] {
      let server = Self.server { $0.refusals = [SMPImage.Upload.command: refusal] }
      server.place(try Self.image().bytes)
      server.leave(isPending: isPending)
      let result = try update(server, to: try bootable(MCUbootVersion(1, 2, 0), seed: 3))
      guard case .failure(.declined(.prepare, let refusal)) = result.outcome else {
        throw Mismatch(result.outcome)
      }
      #expect(refusal.meaning == words)
      #expect(refusal.remedy == (isPending ? .restartIntoWaitingImage : .confirmRunningImage))
    }
  }

  @Test("a server of version 1 without a slot receives no request for an entry")
  func noEntry() throws {
    let server = Self.server {
      $0.refusals = [SMPImage.Upload.command: SMPRefusal(.general(5))]
    }
    let result = try update(server, to: try Self.image())
    guard case .failure(.declined(.prepare, let refusal)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(refusal.code == "rc 5" && refusal.meaning == "no slot is free")
  }

  @Test("a server's refusal has a message")
  func refusedUpload() throws {
    let server = Self.server {
      $0.refusals = [SMPImage.Upload.command: SMPRefusal(.group(.image, 9))]
    }
    let result = try update(server, to: try Self.image())
    guard case .failure(.declined(.prepare, let refusal)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(refusal.code == "image 9" && refusal.meaning == "no slot is free")
  }
}
