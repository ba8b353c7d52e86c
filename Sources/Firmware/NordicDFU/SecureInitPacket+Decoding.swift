extension SecureInitPacket {
  private static let signatureSize = 64
  private static let hashMaximum = 32
  /// The value of the only supported operation; the other operation, 0, resets the device.
  private static let initOperation: UInt64 = 1

  /// Decodes a packet. Unknown fields are ignored, as protocol buffers require.
  public init(decoding bytes: [UInt8]) throws(InitPacketFault) {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.sizeMaximum else { throw .tooLarge(limit: Self.sizeMaximum) }
    let packet = try ProtobufMessage(decoding: bytes[...])
    let plain = try packet.bytes(1, "command")
    let signed = try packet.bytes(2, "signed_command")
    let commandBytes: ArraySlice<UInt8>
    switch (plain, signed) {
    case (let plain?, nil):
      commandBytes = plain
      signature = nil
    case (nil, let signed?):
      let message = try ProtobufMessage(decoding: signed)
      commandBytes = try message.required(message.bytes(1, "command"), "command")
      signature = try Self.signature(in: message)
    case (_?, _?):
      throw .field("signed_command", offset: 0, "occurs next to an unsigned command")
    case (nil, nil): throw .field("command", offset: 0, "is missing")
    }
    let command = try ProtobufMessage(decoding: commandBytes)
    let operation = try command.required(command.number(1, "op_code"), "op_code")
    guard operation == Self.initOperation else {
      throw .value("op_code", operation, offset: command.offset)
    }
    let initBytes = try command.required(command.bytes(2, "init"), "init")
    signedBytes = Array(initBytes)
    let initCommand = try ProtobufMessage(decoding: initBytes)
    firmwareVersion = try initCommand.number32(1, "fw_version")
    hardwareVersion = try initCommand.number32(2, "hw_version")
    requiredSoftdevices = try Self.softdevices(in: initCommand)
    content = try initCommand.required(initCommand.choice(4, "type"), "type")
    sizes = NordicSizes(
      softdevice: try initCommand.number32(5, "sd_size") ?? 0,
      bootloader: try initCommand.number32(6, "bl_size") ?? 0,
      application: try initCommand.number32(7, "app_size") ?? 0)
    (hashAlgorithm, hash) = try Self.hash(in: initCommand)
    isDebug = try initCommand.number(9, "is_debug") ?? 0 != 0
    bootValidations = try Self.bootValidations(in: initCommand)
  }

  private static func signature(
    in message: ProtobufMessage
  ) throws(InitPacketFault) -> Signature {
    let algorithm = try message.required(
      message.choice(2, "signature_type", as: SignatureAlgorithm.self), "signature_type")
    let bytes = try message.required(message.bytes(3, "signature"), "signature")
    guard bytes.count == signatureSize else {
      throw .field(
        "signature", offset: bytes.startIndex, "has \(bytes.count) bytes, not \(signatureSize)")
    }
    return Signature(algorithm: algorithm, bytes: Array(bytes))
  }

  private static func hash(
    in message: ProtobufMessage
  ) throws(InitPacketFault) -> (HashAlgorithm, [UInt8]) {
    guard let bytes = try message.bytes(8, "hash") else { return (.none, []) }
    let hash = try ProtobufMessage(decoding: bytes)
    let algorithm = try hash.required(
      hash.choice(1, "hash_type", as: HashAlgorithm.self), "hash_type")
    let value = try hash.required(hash.bytes(2, "hash"), "hash")
    guard value.count <= hashMaximum else {
      throw .field(
        "hash", offset: value.startIndex, "has \(value.count) bytes; the maximum is \(hashMaximum)")
    }
    guard algorithm != .sha256 || value.count == 32 else {
      throw .field("hash", offset: value.startIndex, "has \(value.count) bytes, not 32")
    }
    return (algorithm, Array(value))
  }

  /// Decodes a field that is packed or repeated.
  private static func softdevices(
    in message: ProtobufMessage
  ) throws(InitPacketFault) -> [UInt32] {
    var found: [UInt32] = []
    for field in message.fields where field.number == 3 {
      var packed: [UInt64] = []
      switch field.value {
      case .varint(let value): packed = [value]
      case .bytes(var bytes):
        while !bytes.isEmpty, packed.count <= requiredSoftdeviceMaximum {
          packed.append(try ProtobufMessage.varint(&bytes))
        }
      case .fixed: throw .field("sd_req", offset: field.offset, "is not a number")
      }
      for value in packed {
        guard let id = UInt32(exactly: value) else {
          throw .value("sd_req", value, offset: field.offset)
        }
        found.append(id)
      }
      guard found.count <= requiredSoftdeviceMaximum else {
        throw .field(
          "sd_req", offset: field.offset, "has more than \(requiredSoftdeviceMaximum) ids")
      }
    }
    return found
  }

  private static func bootValidations(
    in message: ProtobufMessage
  ) throws(InitPacketFault) -> [BootValidation] {
    var found: [BootValidation] = []
    for field in message.fields where field.number == 10 {
      guard case .bytes(let bytes) = field.value else {
        throw .field("boot_validation", offset: field.offset, "is not a message")
      }
      guard found.count < bootValidationMaximum else {
        throw .field(
          "boot_validation", offset: field.offset, "occurs more than \(bootValidationMaximum) times"
        )
      }
      let validation = try ProtobufMessage(decoding: bytes)
      let kind = try validation.required(
        validation.choice(1, "boot_validation type", as: BootValidation.Kind.self),
        "boot_validation type")
      found.append(
        BootValidation(kind: kind, bytes: Array(try validation.bytes(2, "bytes") ?? [])))
    }
    return found
  }
}

extension SecureInitPacket.Content {
  /// The role of the part of a package with this firmware.
  var role: NordicRole {
    switch self {
    case .application, .externalApplication: .application
    case .softdevice: .softdevice
    case .bootloader: .bootloader
    case .softdeviceAndBootloader: .softdeviceAndBootloader
    }
  }
}
