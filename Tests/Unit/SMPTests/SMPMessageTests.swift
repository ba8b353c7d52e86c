import OtaflashTestSupport
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests that compare messages with known bytes, and with Zephyr's encoding (maps of indefinite
/// length).
@Suite struct SMPMessageTests {
  @Test("known requests have the expected bytes")
  func requests() {
    #expect(
      SMPMessage(SMPOS.Echo("hi"), sequence: 0x42, version: .v2).encoded
        == hex("0a00 0006 0000 42 00 a1 6164 62 6869"))
    #expect(
      SMPMessage(SMPOS.Parameters(), sequence: 0xFF, version: .v1).encoded
        == hex("0000 0001 0000 ff06 a0"))
    #expect(
      SMPMessage(SMPImage.ReadState(), sequence: 1).encoded == hex("0800 0001 0001 0100 a0"))
    let test = SMPImage.WriteState(hash: [1, 2], isConfirmed: false)
    #expect(
      SMPMessage(test, sequence: 2).encoded
        == hex("0a00 0012 0001 0200 a2 64 68617368 42 0102 67 636f6e6669726d f4"))
    #expect(
      SMPMessage(SMPOS.Reset(isForced: true), sequence: 3).encoded
        == hex("0a00 0008 0000 0305 a1 65 666f726365 01"))
  }

  @Test("known responses are decoded")
  func responses() throws {
    let upload = try SMPMessage(decoding: hex("0b00 0008 0001 0701 a1 63 6f6666 190200"))
    #expect(upload.sequence == 7)
    #expect(
      try upload.answer(to: SMPImage.Upload.self) == .success(.init(offset: 512, matches: nil)))
    // Zephyr's encoding: an indefinite map with a list of indefinite maps.
    let state = try SMPMessage(
      decoding: hex(
        """
        0900 003c 0001 0100 bf 66 696d61676573 9f bf 64 736c6f74 00 67 76657273696f6e 65 312e322e33
        64 68617368 42 abcd 66 616374697665 f5 69 7065726d616e656e74 f4 ff ff ff
        """))
    let slot = SMPImage.Slot(slot: 0, version: "1.2.3", hash: [0xAB, 0xCD], flags: [.active])
    #expect(try state.answer(to: SMPImage.ReadState.self) == .success(.init(slots: [slot])))
  }

  @Test("both versions of refusals are distinguished from answers")
  func refusals() throws {
    func answer(_ body: String) throws -> Result<SMPImage.Upload.Response, SMPRefusal> {
      let body = hex(body)
      return try SMPMessage(decoding: [0x0B, 0, 0, UInt8(body.count), 0, 1, 7, 1] + body)
        .answer(to: SMPImage.Upload.self)
    }
    #expect(try answer("a1 62 7263 0a") == .failure(SMPRefusal(.general(10))))
    #expect(
      try answer("a2 62 7263 01 63 72736e 63 626164")
        == .failure(SMPRefusal(.general(1), reason: "bad")))
    #expect(
      try answer("a1 63 657272 a2 65 67726f7570 01 62 7263 17")
        == .failure(SMPRefusal(.group(.image, 23))))
    #expect(try answer("a2 62 7263 00 63 6f6666 05") == .success(.init(offset: 5)))
    #expect(try answer("a1 62 7263 20") == .failure(SMPRefusal(.general(-1))))
    // Zero is not an error in any of these fields.
    #expect(
      try answer("a2 63 657272 a2 65 67726f7570 01 62 7263 00 63 6f6666 05")
        == .success(.init(offset: 5)))
    #expect(throws: SMPDecodeFault.wrongKind("err", expected: "a map")) {
      try answer("a1 63 657272 01")
    }
    #expect(throws: SMPDecodeFault.missing("err.rc")) { try answer("a1 63 657272 a0") }
    #expect(throws: SMPDecodeFault.wrongKind("err.group", expected: "a number of 16 bits")) {
      try answer("a1 63 657272 a2 65 67726f7570 1a00010000 62 7263 01")
    }
  }

  @Test("a refusal has the form of its request's version")
  func encodedRefusals() throws {
    let refusal = SMPRefusal(.group(.image, 9))
    let v2 = SMPMessage(SMPImage.Erase(slot: 1), sequence: 9, version: .v2)
    #expect(
      SMPMessage(answering: v2, refusing: refusal).encoded
        == hex("0b00 0011 0001 0905 a1 63 657272 a2 62 7263 09 65 67726f7570 01"))
    let v1 = SMPMessage(SMPImage.Erase(slot: 1), sequence: 9, version: .v1)
    #expect(
      SMPMessage(answering: v1, refusing: refusal).encoded
        == hex("0300 0005 0001 0905 a1 62 7263 01"))
  }

  @Test(
    "an invalid message is refused with the reason",
    arguments: [
      ("", SMPDecodeFault.headerEndsEarly(bytes: 0)),
      ("0a00 0001 0000 00", .headerEndsEarly(bytes: 7)),
      ("1a00 0001 0000 0000 a0", .unknownVersion(3)),
      ("0c00 0001 0000 0000 a0", .unknownOperation(4)),
      ("0a00 0002 0000 0000 a0", .wrongLength(said: 2, found: 1)),
      ("0a00 0001 0000 0000 a0a0", .wrongLength(said: 1, found: 2)),
      ("0a00 0000 0000 0000", .body(CBORFault(.endsEarly, at: 0))),
      ("0a00 0001 0000 0000 80", .bodyIsNoMap),
      ("0a00 0002 0000 0000 a1ff", .body(CBORFault(.unexpectedBreak, at: 1))),
    ])
  func malformed(bytes: String, fault: SMPDecodeFault) {
    #expect(throws: fault) { try SMPMessage(decoding: hex(bytes)) }
  }

  @Test("the three reserved bits before the version are ignored")
  func reservedBits() throws {
    let header = try SMPHeader(decoding: hex("ea 00 0006 0040 42 07"))
    #expect(header.version == .v2 && header.operation == .write)
    #expect(header.group == SMPGroup(rawValue: 64) && header.bodyLength == 6)
  }

  @Test("fields of a wrong kind are named by their location")
  func wrongFields() throws {
    func call(_ number: UInt8, _ operation: SMPOperation, _ body: CBORMap) throws -> SMPCall {
      var message = SMPMessage(SMPImage.ReadState(), sequence: 0)
      message.operation = operation
      message.number = number
      message.body = body
      return try SMPCall(message)
    }
    #expect(throws: SMPDecodeFault.missing("off")) {
      try call(1, .write, CBORMap(["data": .bytes([])]))
    }
    #expect(throws: SMPDecodeFault.wrongKind("off", expected: Int.kind)) {
      try call(1, .write, CBORMap(["off": .integer(-1), "data": .bytes([])]))
    }
    #expect(throws: SMPDecodeFault.wrongKind("off", expected: Int.kind)) {
      try call(1, .write, CBORMap(["off": .unsigned(1 << 32), "data": .bytes([])]))
    }
    #expect(throws: SMPDecodeFault.unknownCommand(SMPCommand(.image, 1, .read))) {
      try call(1, .read, CBORMap())
    }
    let slots = CBORMap(["images": .array([.map(CBORMap(["slot": .text("0")]))])])
    #expect(throws: SMPDecodeFault.wrongKind("images[0].slot", expected: Int.kind)) {
      try SMPImage.State(fields: SMPFields(slots))
    }
  }

  @Test("a response to another request is refused")
  func alienResponse() throws {
    let request = SMPMessage(SMPOS.Parameters(), sequence: 1)
    let response = SMPMessage(
      answering: request, with: SMPOS.Parameters.Response(bufferSize: 384, bufferCount: 4))
    #expect(throws: SMPDecodeFault.answersAnother(SMPImage.ReadState.command)) {
      try response.answer(to: SMPImage.ReadState.self)
    }
    #expect(throws: SMPDecodeFault.answersAnother(SMPOS.Parameters.command)) {
      try request.answer(to: SMPOS.Parameters.self)
    }
  }

  @Test("every request survives a round trip")
  func requestRoundTrips() throws {
    let announcement = SMPImage.Upload.Announcement(
      size: 70_000, sha: [UInt8](repeating: 7, count: 32), image: 1, isUpgradeOnly: true)
    func check(_ request: some SMPRequest, _ call: SMPCall) throws {
      for version in SMPVersion.allCases {
        let bytes = SMPMessage(request, sequence: 0x80, version: version).encoded
        let message = try SMPMessage(decoding: bytes)
        #expect(message.version == version && message.sequence == 0x80)
        #expect(try SMPCall(message) == call)
      }
    }
    try check(SMPOS.Echo("\u{fc}"), .echo(SMPOS.Echo("\u{fc}")))
    try check(SMPOS.Reset(), .reset(SMPOS.Reset()))
    let reset = SMPOS.Reset(isForced: true, bootMode: 1)
    try check(reset, .reset(reset))
    try check(SMPOS.Parameters(), .parameters(SMPOS.Parameters()))
    let info = SMPOS.ApplicationInfo(format: "sv")
    try check(info, .applicationInfo(info))
    let mode = SMPOS.BootloaderInfo(query: "mode")
    try check(mode, .bootloaderInfo(mode))
    try check(SMPImage.ReadState(), .imageState(SMPImage.ReadState()))
    let confirm = SMPImage.WriteState(hash: nil, isConfirmed: true)
    try check(confirm, .setImageState(confirm))
    let first = SMPImage.Upload(offset: 0, data: [1, 2, 3], announcement: announcement)
    try check(first, .upload(first))
    let later = SMPImage.Upload(offset: 65_536, data: [], announcement: nil)
    try check(later, .upload(later))
    try check(SMPImage.Erase(slot: 3), .erase(SMPImage.Erase(slot: 3)))
    try check(SMPImage.SlotInfo(), .slotInfo(SMPImage.SlotInfo()))
  }

  @Test("every response survives a round trip")
  func responseRoundTrips() throws {
    func check<Request: SMPRequest>(_ request: Request, _ response: Request.Response) throws {
      let question = SMPMessage(request, sequence: 5, version: .v1)
      let bytes = SMPMessage(answering: question, with: response).encoded
      let message = try SMPMessage(decoding: bytes)
      #expect(message.sequence == 5 && message.version == .v1)
      #expect(try message.answer(to: Request.self) == .success(response))
    }
    let slots = [
      SMPImage.Slot(slot: 0, version: "1.2.3.4", hash: [1, 2], flags: [.active, .confirmed]),
      SMPImage.Slot(
        image: 1, slot: 1, version: "1.3.0", hash: nil, flags: [.bootable, .pending, .permanent]),
    ]
    try check(SMPOS.Echo("x"), .init("x"))
    try check(SMPOS.Reset(), SMPDone())
    try check(SMPOS.Parameters(), .init(bufferSize: 2475, bufferCount: 4))
    try check(SMPOS.ApplicationInfo(), .init(output: "Zephyr"))
    try check(SMPOS.BootloaderInfo(), .init(bootloader: "MCUboot"))
    for mode in MCUbootMode.allCases {
      try check(
        SMPOS.BootloaderInfo(query: "mode"), .init(mode: mode.rawValue, forbidsDowngrade: true))
    }
    try check(SMPImage.ReadState(), .init(slots: slots, splitStatus: 0))
    try check(SMPImage.ReadState(), .init(slots: []))
    try check(SMPImage.WriteState(hash: [1], isConfirmed: false), .init(.init(slots: slots)))
    try check(SMPImage.WriteState(hash: [1], isConfirmed: false), .init(nil))
    try check(SMPImage.Upload(offset: 0, data: []), .init(offset: 9, matches: true))
    try check(SMPImage.Upload(offset: 0, data: []), .init(offset: nil, matches: nil))
    try check(SMPImage.Erase(), SMPDone())
    let sizes = [
      SMPImage.SlotInfo.Slot(slot: 0, size: 0x40000),
      SMPImage.SlotInfo.Slot(slot: 1, size: nil, uploadImage: 2),
    ]
    try check(
      SMPImage.SlotInfo(), .init(images: [.init(image: 0, slots: sizes, largestImage: 0x3F000)]))
  }

  @Test("an undefined mode is unknown, not an error")
  func unknownMode() throws {
    let request = SMPMessage(SMPOS.BootloaderInfo(query: "mode"), sequence: 0)
    var message = SMPMessage(answering: request, with: SMPOS.BootloaderInfo.Response())
    message.body = CBORMap(["mode": .integer(99)])
    #expect(
      try message.answer(to: SMPOS.BootloaderInfo.self)
        == .success(.init(mode: 99)))
    #expect(MCUbootMode(99) == .unknown)
  }

  @Test("every known code has a message and advice in complete sentences")
  func words() {
    let codes: [SMPRefusal.Code] =
      (1...13).map { .general($0) } + (1...6).map { .group(.os, $0) }
      + (1...34).map { .group(.image, $0) } + [.general(256)]
    for code in codes {
      let words = SMPRefusal(code).inWords
      #expect(!words.meaning.contains("unknown code"), "\(code)")
      #expect(!words.meaning.hasSuffix(".") && words.advice.hasSuffix("."), "\(code)")
    }
    #expect(SMPRefusal(.group(.image, 27)).inWords.code == "image 27")
    #expect(SMPRefusal(.general(1), reason: "why").inWords.meaning.contains("'why'"))
    let unknown = SMPRefusal(.group(SMPGroup(rawValue: 64), 1)).inWords
    #expect(unknown.code == "group 64 rc 1" && unknown.meaning.contains("unknown code"))
  }
}
