/// The file management group (Zephyr, MCUmgr group 8).
package enum SMPFiles {
  /// Command 0, write: writes a part of a file.
  ///
  /// The server keeps the file open between requests. It writes a part only at the end of the file,
  /// and replaces an existing file at offset 0.
  package struct Upload: SMPRequest {
    package static let command = SMPCommand(.files, 0, .write)
    package var name: String
    package var offset: Int
    package var data: [UInt8]
    /// The length of the complete file in bytes; required at offset 0.
    package var length: Int?

    package init(name: String, offset: Int, data: [UInt8], length: Int? = nil) {
      self.name = name
      self.offset = offset
      self.data = data
      self.length = length
    }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      name = try fields.required("name")
      offset = try fields.required("off")
      data = try fields.value("data") ?? []
      length = try fields.value("len")
    }

    package var body: CBORMap {
      CBORMap([
        "name": .text(name), "off": .integer(offset), "data": .bytes(data),
        "len": length.map(CBORItem.integer),
      ])
    }

    package struct Response: SMPResponse {
      /// The offset after the written bytes.
      package var offset: Int?

      package init(offset: Int?) { self.offset = offset }

      package init(fields: SMPFields) throws(SMPDecodeFault) { offset = try fields.value("off") }

      package var body: CBORMap { CBORMap(["off": offset.map(CBORItem.integer)]) }
    }
  }

  /// Command 0, read: reads a part of a file. The server determines the number of bytes.
  package struct Download: SMPRequest {
    package static let command = SMPCommand(.files, 0, .read)
    package var name: String
    package var offset: Int

    package init(name: String, offset: Int) {
      self.name = name
      self.offset = offset
    }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      name = try fields.required("name")
      offset = try fields.required("off")
    }

    package var body: CBORMap { CBORMap(["off": .integer(offset), "name": .text(name)]) }

    package struct Response: SMPResponse {
      package var offset: Int
      /// The bytes at `offset`; empty at the end of the file.
      package var data: [UInt8]
      /// The length of the file in bytes; only in the response to offset 0.
      package var length: Int?

      package init(offset: Int, data: [UInt8], length: Int? = nil) {
        self.offset = offset
        self.data = data
        self.length = length
      }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        offset = try fields.required("off")
        data = try fields.value("data") ?? []
        length = try fields.value("len")
      }

      package var body: CBORMap {
        CBORMap([
          "off": .integer(offset), "data": .bytes(data), "len": length.map(CBORItem.integer),
        ])
      }
    }
  }

  /// Command 1: returns the length of a file.
  package struct Status: SMPRequest {
    package static let command = SMPCommand(.files, 1, .read)
    package var name: String

    package init(name: String) { self.name = name }

    package init(fields: SMPFields) throws(SMPDecodeFault) { name = try fields.required("name") }

    package var body: CBORMap { CBORMap(["name": .text(name)]) }

    package struct Response: SMPResponse {
      package var length: Int

      package init(length: Int) { self.length = length }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        length = try fields.required("len")
      }

      package var body: CBORMap { CBORMap(["len": .integer(length)]) }
    }
  }

  /// Command 4: closes the open file. Without an open file, the command has no effect.
  package struct Close: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.files, 4, .write)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }
  }
}
