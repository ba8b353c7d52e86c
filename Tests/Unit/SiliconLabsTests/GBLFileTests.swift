import OtaflashFirmware
import Testing

/// Tests of the decoder of GBL files.
@Suite struct GBLFileTests {
  /// The smallest valid file, whose CRC32 was computed by zlib.
  static let smallest: [UInt8] =
    [
      0xEB, 0x17, 0xA6, 0x03, 8, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0xF4, 0x0A, 0x0A, 0xF4, 28, 0, 0,
      0, 0x20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
    ] + [UInt8](repeating: 0, count: 16) + [
      0xFE, 0x01, 0x01, 0xFE, 20, 0, 0, 0, 0, 0x40, 0, 0,
    ] + Array(0..<16) + [0xFC, 0x04, 0x04, 0xFC, 4, 0, 0, 0, 0x62, 0xED, 0x23, 0xF4]

  @Test func aFileIsDecoded() throws {
    let file = try GBLFile(decoding: Self.smallest)
    #expect(file.tags.map(\.kind) == [.header, .application, .program, .end])
    #expect(file.tags[2].payload == 60..<80 && file.tags[3].offset == 80)
    #expect(file.application?.version == 1 && file.application?.type == 0x20)
    #expect(file.application?.product == [UInt8](repeating: 0, count: 16))
    #expect(!file.isSigned && !file.isEncrypted)
    #expect(GBLSample.file(Array(0..<16)) == Self.smallest)
  }

  /// The file becomes an image that only devices of Silicon Labs accept.
  @Test func aFileIsAnImageOfItsOwnKind() throws {
    let package = try FirmwarePackage.decode(name: "app.gbl", bytes: Self.smallest)
    #expect(package.kind == .gbl && package.parts[0].gbl != nil)
    #expect(package.parts[0].bytes == Self.smallest && package.parts[0].version == nil)
    #expect(try package.parts[0].checkIntegrity() == .whole("CRC32"))
  }

  @Test func theVersionIsReadFromTheDescriptorInTheProgram() throws {
    let descriptor = ImageDescriptor(version: FirmwareVersion(1, 3, 0), hardware: nil).encoded
    let bytes = GBLSample.file([UInt8](repeating: 7, count: 64) + descriptor)
    #expect(try FirmwareImage.decode(name: "-", bytes: bytes).version == FirmwareVersion(1, 3, 0))
  }

  /// A file that is cut off anywhere after its first four bytes is refused, and never sent as a
  /// plain binary.
  @Test func everyTruncatedFileIsRefused() {
    for count in 4..<Self.smallest.count {
      #expect(throws: FirmwareFault.self, "\(count) bytes") {
        try FirmwareImage.decode(name: "app.gbl", bytes: Array(Self.smallest[..<count]))
      }
    }
  }

  @Test func everyChangedByteIsNoticed() {
    for index in 4..<Self.smallest.count {
      var bytes = Self.smallest
      bytes[index] ^= 0x10
      #expect(throws: GBLFault.self, "byte \(index)") { try GBLFile(decoding: bytes) }
    }
  }

  // MARK: Errors

  private func fault(_ build: (inout GBLSample) -> Void, type: UInt32 = 0) -> GBLFault? {
    var sample = GBLSample(type: type)
    build(&sample)
    do throws(GBLFault) {
      _ = try GBLFile(decoding: sample.bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test func versionAndTypeAreChecked() {
    var sample = GBLSample(version: 0x0400_0000)
    sample.addProgram([1])
    sample.end()
    #expect(throws: GBLFault.versionNotSupported(0x0400_0000)) {
      try GBLFile(decoding: sample.bytes)
    }
    #expect(
      fault(
        {
          $0.addProgram([1])
          $0.end()
        }, type: 2) == .typeNotSupported(2))
    #expect(throws: GBLFault.versionFour) {
      try GBLFile(decoding: [0xEB, 0x17, 0xA6, 0x84, 0, 0, 0, 0])
    }
    #expect(throws: GBLFault.noHeader) { try GBLFile(decoding: [1, 2, 3]) }
    #expect(throws: GBLFault.noHeader) { try GBLFile(decoding: [UInt8](repeating: 1, count: 20)) }
  }

  @Test func tagsOutOfOrderAreRefused() {
    #expect(
      fault {
        $0.addProgram([1])
        $0.addApplication()
        $0.end()
      } == .wrongOrder(.application, after: .program, offset: 29))
    #expect(
      fault {
        $0.addApplication()
        $0.addApplication()
        $0.end()
      } == .repeated(.application, offset: 52))
    #expect(
      fault {
        $0.add(0xFE01_01FE, words: [0], [1])
        $0.add(0x1234_5678)
        $0.end()
      } == .unknownTag(0x1234_5678, offset: 29))
  }

  @Test func lengthsAreChecked() {
    #expect(
      fault { $0.add(0xFE01_01FE, words: [0x4000]) }
        == .wrongLength(.program, found: 4, offset: 16))
    #expect(
      fault { $0.add(0x76A6_17EB, words: [1, 2, 3]) }
        == .wrongLength(.versionDependency, found: 12, offset: 16))
    #expect(
      fault { $0.bytes += GBLSample.little(0xFE01_01FE) + GBLSample.little(0xFFFF_FFFF) }
        == .tagBeyondEnd(.program, length: 0xFFFF_FFFF, left: 0, offset: 16))
    #expect(fault { $0.addProgram([1]) } == .endMissing(offset: 29))
  }

  @Test func theTypeAndTheTagsMustAgree() {
    let signature = [UInt8](repeating: 1, count: 64)
    #expect(
      fault(
        {
          $0.addProgram([1])
          $0.end()
        }, type: 0x100) == .missing(.signature))
    #expect(
      fault {
        $0.addProgram([1])
        $0.add(0xF70A_0AF7, signature)
        $0.end()
      } == .notDeclared(.signature, offset: 29))
    #expect(
      fault(
        {
          $0.add(0xF907_07F9, [1])
          $0.end()
        }, type: 1) == .missing(.encryptionStart))
    #expect(
      fault {
        $0.add(0xF907_07F9, [1])
        $0.end()
      } == .notDeclared(.encrypted, offset: 16))
    #expect(
      fault {
        $0.addApplication()
        $0.end()
      } == .nothingToInstall)
  }

  @Test func theEndIsChecked() {
    #expect(
      fault {
        $0.addProgram([1])
        $0.end()
        $0.bytes.append(0xFF)
      } == .bytesAfterEnd(count: 1, offset: 41))
    guard
      case .crcDiffers(let stated, let computed, 37)? = fault({
        $0.addProgram([1])
        $0.end(damage: 1)
      })
    else {
      Issue.record("the CRC32 was not compared")
      return
    }
    #expect(stated ^ computed == 1)
    #expect(
      fault { sample in
        for _ in 0..<5000 { sample.addProgram([1]) }
        sample.end()
      } == .tooManyTags(limit: 4096, offset: 16 + 4095 * 13))
  }

  /// Every message names the file's format and the position of the error.
  @Test func everyMessageIsComplete() {
    let faults: [GBLFault] = [
      .noHeader, .versionFour, .versionNotSupported(7), .typeNotSupported(7),
      .endMissing(offset: 3), .unknownTag(9, offset: 3),
      .tagBeyondEnd(.end, length: 4, left: 1, offset: 3), .wrongLength(.end, found: 1, offset: 3),
      .wrongOrder(.end, after: .program, offset: 3), .repeated(.end, offset: 3),
      .tooManyTags(limit: 1, offset: 3), .missing(.signature), .notDeclared(.signature, offset: 3),
      .nothingToInstall, .crcDiffers(stated: 1, computed: 2, offset: 3),
      .bytesAfterEnd(count: 1, offset: 3),
    ]
    #expect(Set(faults.map { "\($0)" }).count == faults.count)
    for fault in faults { #expect("\(fault)".hasPrefix("GBL file, offset \(fault.offset): ")) }
    #expect(Set(GBLTag.Kind.allCases.map { "\($0)" }).count == GBLTag.Kind.allCases.count)
  }
}
