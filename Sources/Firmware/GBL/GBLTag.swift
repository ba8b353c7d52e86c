/// A tag of a GBL file, the format of Silicon Labs' Gecko bootloader: an identifier, a length and a
/// payload (gecko_sdk, `platform/bootloader/parser/gbl`).
public struct GBLTag: Equatable, Sendable {
  /// The type of a tag.
  public enum Kind: UInt32, Sendable, CaseIterable {
    /// The version of the format, and the type of the file.
    case header = 0x03A6_17EB
    /// Conditions for the versions of application, bootloader and Secure Engine.
    case versionDependency = 0x76A6_17EB
    /// The length and the nonce of the encryption.
    case encryptionStart = 0xFA06_06FA
    /// The type and the version of the application.
    case application = 0xF40A_0AF4
    /// Firmware of the Secure Engine.
    case secureEngine = 0x5EA6_17EB
    /// A bootloader.
    case bootloader = 0xF509_09F5
    /// Bytes for an address.
    case program = 0xFE01_01FE
    /// Bytes for an address; the bootloader first erases the flash pages.
    case eraseAndProgram = 0xFD03_03FD
    /// Bytes for an address, compressed with LZ4.
    case programLZ4 = 0xFD05_05FD
    /// Bytes for an address, compressed with LZMA.
    case programLZMA = 0xFD07_07FD
    /// A difference from the running application.
    case delta = 0xF80A_0AF8
    /// A difference, compressed with LZ4.
    case deltaLZ4 = 0xF80B_0BF8
    /// A difference, compressed with LZMA.
    case deltaLZMA = 0xF80C_0CF8
    /// Bytes that the bootloader does not interpret.
    case metadata = 0xF608_08F6
    /// Encrypted tags.
    case encrypted = 0xF907_07F9
    /// A public key that verifies the signature of the file. The public key in the device verifies
    /// the certificate.
    case certificate = 0xF30B_0BF3
    /// A signature with ECDSA P-256.
    case signature = 0xF70A_0AF7
    /// The CRC32 of the file.
    case end = 0xFC04_04FC
  }

  /// The type of the tag.
  public let kind: Kind
  /// The offset of the tag in the file.
  public let offset: Int
  /// The range of the payload in the file.
  public let payload: Range<Int>

  /// The size of identifier and length, in bytes.
  static let headerSize = 8
}

extension GBLTag.Kind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .header: "header"
    case .versionDependency: "version dependency"
    case .encryptionStart: "encryption init"
    case .application: "application"
    case .secureEngine: "SE upgrade"
    case .bootloader: "bootloader"
    case .program: "program"
    case .eraseAndProgram: "erase and program"
    case .programLZ4: "program (LZ4)"
    case .programLZMA: "program (LZMA)"
    case .delta: "delta"
    case .deltaLZ4: "delta (LZ4)"
    case .deltaLZMA: "delta (LZMA)"
    case .metadata: "metadata"
    case .encrypted: "encrypted data"
    case .certificate: "certificate"
    case .signature: "signature"
    case .end: "end"
    }
  }
}

extension GBLTag.Kind {
  /// The position in the order of tags. A tag never follows a tag with a higher position.
  var order: Int {
    switch self {
    case .header: 0
    case .versionDependency: 1
    case .encryptionStart: 2
    case .application: 3
    case .secureEngine: 4
    case .bootloader: 5
    case .program, .eraseAndProgram, .programLZ4, .programLZMA, .delta, .deltaLZ4, .deltaLZMA,
      .metadata:
      6
    case .encrypted: 7
    case .certificate: 8
    case .signature: 9
    case .end: 10
    }
  }

  var isRepeatable: Bool {
    switch self {
    case .versionDependency, .program, .eraseAndProgram, .programLZ4, .programLZMA, .delta,
      .deltaLZ4, .deltaLZMA, .metadata, .encrypted:
      true
    case .header, .encryptionStart, .application, .secureEngine, .bootloader, .certificate,
      .signature, .end:
      false
    }
  }

  /// The permitted lengths of the payload, in bytes.
  var lengths: ClosedRange<Int> {
    switch self {
    case .header: 8...8
    case .versionDependency, .secureEngine, .bootloader: 8...Int.max
    case .encryptionStart: 16...16
    case .application: 28...28
    // A word of address, and one byte or more.
    case .program, .eraseAndProgram, .programLZ4, .programLZMA, .delta, .deltaLZ4, .deltaLZMA:
      5...Int.max
    case .metadata, .encrypted: 0...Int.max
    case .certificate: 136...136
    case .signature: 64...64
    case .end: 4...4
    }
  }

  /// Whether the device installs the payload.
  var isInstalled: Bool {
    switch self {
    case .secureEngine, .bootloader, .program, .eraseAndProgram, .programLZ4, .programLZMA, .delta,
      .deltaLZ4, .deltaLZMA, .encrypted:
      true
    case .header, .versionDependency, .encryptionStart, .application, .metadata, .certificate,
      .signature, .end:
      false
    }
  }
}
