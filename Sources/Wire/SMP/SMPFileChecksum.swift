extension SMPFiles {
  /// The names of the two checksums that Zephyr defines.
  package enum ChecksumType: String, Sendable, CaseIterable {
    /// CRC32 (IEEE 802.3), as a number.
    case crc32
    /// SHA-256, as a string of bytes.
    case sha256
  }

  /// Command 2: returns the checksum of the first bytes of a file.
  package struct Checksum: SMPRequest {
    package static let command = SMPCommand(.files, 2, .read)
    package var name: String
    /// The checksum's name; `nil` selects the server's default: CRC32 if the server supports it,
    /// otherwise SHA-256.
    package var type: String?
    /// The number of bytes from the start of the file; `nil` selects the complete file. 0 is
    /// invalid.
    package var length: Int?

    package init(name: String, type: String? = nil, length: Int? = nil) {
      self.name = name
      self.type = type
      self.length = length
    }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      name = try fields.required("name")
      type = try fields.value("type")
      length = try fields.value("len")
    }

    package var body: CBORMap {
      CBORMap([
        "name": .text(name), "type": type.map(CBORItem.text),
        "len": length.map(CBORItem.integer),
      ])
    }

    package struct Response: SMPResponse {
      package var type: String
      /// The number of bytes that the checksum covers.
      package var length: Int
      package var output: Output

      package enum Output: Equatable, Sendable {
        case number(UInt64)
        case bytes([UInt8])
      }

      package init(type: String, length: Int, output: Output) {
        self.type = type
        self.length = length
        self.output = output
      }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        type = try fields.required("type")
        length = try fields.required("len")
        do throws(SMPDecodeFault) {
          output = .number(try fields.required("output"))
        } catch .wrongKind {
          output = .bytes(try fields.required("output"))
        }
      }

      package var body: CBORMap {
        let item: CBORItem =
          switch output {
          case .number(let value): .unsigned(value)
          case .bytes(let bytes): .bytes(bytes)
          }
        return CBORMap(["type": .text(type), "len": .integer(length), "output": item])
      }
    }
  }

  /// Command 3: returns the names of the checksums that the server supports.
  package struct ChecksumTypes: SMPRequest {
    package static let command = SMPCommand(.files, 3, .read)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }

    package struct Response: SMPResponse {
      package var names: [String]

      package init(names: [String]) { self.names = names }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        guard let types = try fields.named("types", of: CBORMap.self) else {
          throw .missing("types")
        }
        names = types.map(\.name)
      }

      /// The map of each name contains its format, 0 = number, and its size in bytes.
      package var body: CBORMap {
        let types = names.map { name in
          let isNumber = name == ChecksumType.crc32.rawValue
          return CBORMap.Pair(
            key: .text(name),
            value: .map(
              CBORMap(["format": .integer(isNumber ? 0 : 1), "size": .integer(isNumber ? 4 : 32)])))
        }
        return CBORMap(["types": .map(CBORMap(pairs: types))])
      }
    }
  }
}
