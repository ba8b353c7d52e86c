import OtaflashFirmware

/// The init packet of an image as the bootloader reads it (dfu-cc.proto): a protocol-buffers
/// message, of which the bootloader keeps only the fields that it checks.
struct InitPacket: Equatable, Sendable {
  enum ImageType: UInt64, Sendable {
    case application = 0
    case softDevice = 1
    case bootloader = 2
    case softDeviceAndBootloader = 3
    case externalApplication = 4
  }

  /// An error that rejects an init packet before any value is compared.
  enum Fault: Error, Equatable {
    case malformed
    case unknownCommand
    case noInitCommand
  }

  struct Signature: Equatable, Sendable {
    /// The signature type; 0 = ECDSA on P-256 with SHA-256.
    var type: UInt64 = 0
    var bytes: [UInt8] = []
  }

  private static let initialize: UInt64 = 1

  var firmwareVersion: UInt64?
  var hardwareVersion: UInt64?
  var softDevices: [UInt64] = []
  var type: UInt64?
  /// The sizes of SoftDevice, bootloader and application in bytes; 0 = not present.
  var softDeviceSize = 0
  var bootloaderSize = 0
  var applicationSize = 0
  var hashType: UInt64?
  var hash: [UInt8] = []
  var isDebug = false
  /// The signature; `nil` = the packet is not signed.
  private(set) var signature: Signature?
  /// The bytes that the signature covers: the init command as it was sent.
  private(set) var signedBytes: [UInt8] = []

  /// The announced size of the image in bytes.
  var imageSize: Int { softDeviceSize + bootloaderSize + applicationSize }

  /// Whether the packet is the structure of a micro:bit V2 instead of a message.
  private(set) var isOfMicrobit = false

  init(decoding bytes: [UInt8]) throws(Fault) {
    if bytes.starts(with: MicrobitProgram.packetMark) {
      try readStructure(bytes)
      return
    }
    var command: ArraySlice<UInt8>?
    try Self.eachField(of: bytes[...]) { (number, value) throws(Fault) in
      switch number {
      case 1: command = try value.bytes
      case 2:
        var signature = Signature()
        try Self.eachField(of: try value.bytes) { (number, value) throws(Fault) in
          switch number {
          case 1: command = try value.bytes
          case 2: signature.type = try value.number
          case 3: signature.bytes = Array(try value.bytes)
          default: break
          }
        }
        self.signature = signature
      default: break
      }
    }
    guard let command else { throw .noInitCommand }
    try readCommand(command)
  }

  /// Reads the structure of a micro:bit V2 (v2-bootloader, `nrf_dfu_validation.c`).
  private mutating func readStructure(_ bytes: [UInt8]) throws(Fault) {
    guard bytes.count == MicrobitProgram.packetSize, bytes.littleEndianWord(at: 12) == 1 else {
      throw .malformed
    }
    isOfMicrobit = true
    (firmwareVersion, hardwareVersion, softDevices, type) = (1, 52, [0], 0)
    applicationSize = Int(bytes.littleEndianWord(at: 16))
    hashType = 3
    hash = Array(bytes[24...].prefix(Int(bytes.littleEndianWord(at: 20))))
  }

  private mutating func readCommand(_ command: ArraySlice<UInt8>) throws(Fault) {
    var operation: UInt64 = 0
    var content: ArraySlice<UInt8>?
    try Self.eachField(of: command) { (number, value) throws(Fault) in
      switch number {
      case 1: operation = try value.number
      case 2: content = try value.bytes
      default: break
      }
    }
    guard operation == Self.initialize else { throw .unknownCommand }
    guard let content else { throw .noInitCommand }
    signedBytes = Array(content)
    try Self.eachField(of: content) { (number, value) throws(Fault) in
      switch number {
      case 1: firmwareVersion = try value.number
      case 2: hardwareVersion = try value.number
      case 3: softDevices += try value.numbers
      case 4: type = try value.number
      case 5: softDeviceSize = try value.size
      case 6: bootloaderSize = try value.size
      case 7: applicationSize = try value.size
      case 8: try readHash(try value.bytes)
      case 9: isDebug = try value.number != 0
      default: break
      }
    }
  }

  private mutating func readHash(_ bytes: ArraySlice<UInt8>) throws(Fault) {
    try Self.eachField(of: bytes) { (number, value) throws(Fault) in
      switch number {
      case 1: hashType = try value.number
      case 2: hash = Array(try value.bytes)
      default: break
      }
    }
  }
}

// MARK: - Protocol buffers

extension InitPacket {
  private enum Value {
    case varint(UInt64)
    case delimited(ArraySlice<UInt8>)

    var number: UInt64 {
      get throws(Fault) {
        guard case .varint(let number) = self else { throw .malformed }
        return number
      }
    }

    var bytes: ArraySlice<UInt8> {
      get throws(Fault) {
        guard case .delimited(let bytes) = self else { throw .malformed }
        return bytes
      }
    }

    var size: Int {
      get throws(Fault) {
        guard let size = UInt32(exactly: try number) else { throw .malformed }
        return Int(size)
      }
    }

    /// A repeated number, packed or not.
    var numbers: [UInt64] {
      get throws(Fault) {
        guard case .delimited(var bytes) = self else { return [try number] }
        var numbers: [UInt64] = []
        while !bytes.isEmpty { numbers.append(try InitPacket.takeVarint(&bytes)) }
        return numbers
      }
    }
  }

  private static func eachField(
    of bytes: ArraySlice<UInt8>, _ body: (UInt64, Value) throws(Fault) -> Void
  ) throws(Fault) {
    var rest = bytes
    while !rest.isEmpty {
      let tag = try takeVarint(&rest)
      switch tag & 7 {
      case 0: try body(tag >> 3, .varint(try takeVarint(&rest)))
      case 1: _ = try take(8, &rest)
      case 2:
        let count = try takeVarint(&rest)
        try body(tag >> 3, .delimited(try take(Int(clamping: count), &rest)))
      case 5: _ = try take(4, &rest)
      default: throw .malformed
      }
    }
  }

  private static func take(
    _ count: Int, _ rest: inout ArraySlice<UInt8>
  ) throws(Fault) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw .malformed }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  private static func takeVarint(_ rest: inout ArraySlice<UInt8>) throws(Fault) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<10 {
      guard let byte = rest.popFirst() else { throw .malformed }
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
      if byte & 0x80 == 0 { return value }
    }
    throw .malformed
  }
}
