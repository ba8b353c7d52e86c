import OtaflashTestSupport
import OtaflashWire

/// One kind of message: the oracle's name for the kind, and a function that creates a random
/// message.
struct Sample: Sendable {
  let name: String
  let make: @Sendable (inout SplitMix64) -> SMPMessage

  static let all = requests + responses + refusals

  private static func request<Request: SMPRequest>(
    _ name: String, _ make: @escaping @Sendable (inout SplitMix64) -> Request
  ) -> Sample {
    Sample(name: name) { random in
      let sequence = UInt8.random(in: 0...255, using: &random)
      let version: SMPVersion = Bool.random(using: &random) ? .v1 : .v2
      return SMPMessage(make(&random), sequence: sequence, version: version)
    }
  }

  private static func response<Request: SMPRequest>(
    _ name: String, to question: Request,
    _ make: @escaping @Sendable (inout SplitMix64) -> Request.Response
  ) -> Sample {
    let asked = request(name) { _ in question }
    return Sample(name: name) { random in
      SMPMessage(answering: asked.make(&random), with: make(&random))
    }
  }

  // MARK: Kinds

  private static let requests = [
    request("EchoWriteRequest") { SMPOS.Echo($0.text()) },
    request("ResetWriteRequest") { random in
      SMPOS.Reset(
        isForced: random.maybe { $0.flag() },
        bootMode: random.maybe { Int.random(in: 0...255, using: &$0) })
    },
    request("MCUMgrParametersReadRequest") { _ in SMPOS.Parameters() },
    request("OSApplicationInfoReadRequest") { random in
      SMPOS.ApplicationInfo(format: random.maybe { $0.text() })
    },
    request("BootloaderInformationReadRequest") { random in
      SMPOS.BootloaderInfo(query: random.maybe { $0.text() })
    },
    request("ImageStatesReadRequest") { _ in SMPImage.ReadState() },
    request("ImageStatesWriteRequest") { random in
      SMPImage.WriteState(hash: random.maybe { $0.bytes(32) }, isConfirmed: random.flag())
    },
    request("ImageUploadWriteRequest") { random in
      let data = random.bytes(Int.random(in: 0...2449, using: &random))
      return SMPImage.Upload(
        offset: random.number(), data: data, announcement: random.maybe { $0.announcement() })
    },
    request("ImageEraseRequest") { random in SMPImage.Erase(slot: random.maybe { $0.number() }) },
    request("SlotInfoRequest") { _ in SMPImage.SlotInfo() },
  ]

  private static let responses = [
    response("EchoWriteResponse", to: SMPOS.Echo("")) { .init($0.text()) },
    response("ResetWriteResponse", to: SMPOS.Reset()) { _ in SMPDone() },
    response("MCUMgrParametersReadResponse", to: SMPOS.Parameters()) {
      .init(bufferSize: $0.number(), bufferCount: $0.number())
    },
    response("OSApplicationInfoReadResponse", to: SMPOS.ApplicationInfo()) {
      .init(output: $0.text())
    },
    response("BootloaderInformationReadResponse", to: SMPOS.BootloaderInfo()) {
      .init(bootloader: $0.text())
    },
    response("BootloaderModeResponse", to: SMPOS.BootloaderInfo()) { random in
      .init(
        mode: (-1...7).randomElement(using: &random),
        forbidsDowngrade: random.maybe { $0.flag() })
    },
    response("ImageStatesReadResponse", to: SMPImage.ReadState()) { $0.state() },
    response("ImageStatesWriteResponse", to: SMPImage.WriteState(hash: nil, isConfirmed: true)) {
      .init($0.state())
    },
    response("ImageUploadWriteResponse", to: SMPImage.Upload(offset: 0, data: [])) { random in
      .init(
        offset: random.maybe { $0.number() }, matches: random.maybe { $0.flag() })
    },
    response("ImageEraseResponse", to: SMPImage.Erase()) { _ in SMPDone() },
    response("SlotInfoResponse", to: SMPImage.SlotInfo()) { random in
      .init(images: (0..<Int.random(in: 0...2, using: &random)).map { random.sizes(of: $0) })
    },
  ]

  private static let refusals = [
    refusal("OSManagementErrorV1", of: SMPOS.Parameters(), .v1) { random in
      SMPRefusal(
        .general(Int32.random(in: 1...13, using: &random)), reason: random.maybe { $0.text() })
    },
    refusal("ImageManagementErrorV1", of: SMPImage.Erase(), .v1) { random in
      SMPRefusal(
        .general(Int32.random(in: 1...13, using: &random)), reason: random.maybe { $0.text() })
    },
    refusal("OSManagementErrorV2", of: SMPOS.Parameters(), .v2) { random in
      SMPRefusal(.group(.os, Int32.random(in: 1...5, using: &random)))
    },
    refusal("ImageManagementErrorV2", of: SMPImage.Erase(), .v2) { random in
      SMPRefusal(.group(.image, Int32.random(in: 1...33, using: &random)))
    },
  ]

  private static func refusal(
    _ name: String, of request: some SMPRequest, _ version: SMPVersion,
    _ make: @escaping @Sendable (inout SplitMix64) -> SMPRefusal
  ) -> Sample {
    Sample(name: name) { random in
      let question = SMPMessage(
        request, sequence: UInt8.random(in: 0...255, using: &random), version: version)
      return SMPMessage(answering: question, refusing: make(&random))
    }
  }
}

extension SplitMix64 {
  mutating func flag() -> Bool { Bool.random(using: &self) }

  mutating func maybe<Value>(_ make: (inout SplitMix64) -> Value) -> Value? {
    flag() ? make(&self) : nil
  }

  /// A number near a boundary between CBOR's encodings, or any number of 32 bits.
  mutating func number() -> Int {
    let borders = [0, 1, 23, 24, 255, 256, 65_535, 65_536, Int(UInt32.max)]
    return flag()
      ? borders[Int.random(in: 0..<borders.count, using: &self)]
      : Int.random(in: 0...Int(UInt32.max), using: &self)
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }

  mutating func text() -> String {
    let letters: [Character] = ["a", "Z", " ", "0", "\u{e4}", "\u{6c34}", "\u{1F680}", "\"", "\n"]
    let count = [0, 1, 7, 23, 24, 100][Int.random(in: 0..<6, using: &self)]
    return String((0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &self)] })
  }

  mutating func announcement() -> SMPImage.Upload.Announcement {
    SMPImage.Upload.Announcement(
      size: number(), sha: maybe { $0.bytes(32) }, image: maybe { $0.number() },
      isUpgradeOnly: maybe { $0.flag() })
  }

  mutating func state() -> SMPImage.State {
    let count = Int.random(in: 0...4, using: &self)
    let slots = (0..<count).map { _ in
      SMPImage.Slot(
        image: maybe { $0.number() }, slot: number(), version: text(),
        hash: maybe { $0.bytes(32) },
        flags: SMPImage.Slot.Flags(rawValue: UInt8.random(in: 0..<32, using: &self)))
    }
    return SMPImage.State(slots: slots, splitStatus: maybe { Int32($0.number() & 0x7F) })
  }

  mutating func sizes(of image: Int) -> SMPImage.SlotInfo.Image {
    SMPImage.SlotInfo.Image(
      image: image,
      slots: (0..<2).map { slot in
        SMPImage.SlotInfo.Slot(
          slot: slot, size: maybe { $0.number() }, uploadImage: maybe { $0.number() })
      }, largestImage: maybe { $0.number() })
  }
}
