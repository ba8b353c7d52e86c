/// The settings group (Zephyr, MCUmgr group 3).
package enum SMPSettings {
  /// Command 0, read: returns a value.
  package struct Read: SMPRequest {
    package static let command = SMPCommand(.settings, 0, .read)
    package var name: String
    /// The maximum length of the value in bytes; `nil` selects the server's maximum.
    package var maximum: Int?

    package init(name: String, maximum: Int? = nil) {
      self.name = name
      self.maximum = maximum
    }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      name = try fields.required("name")
      maximum = try fields.value("max_size")
    }

    package var body: CBORMap {
      CBORMap(["name": .text(name), "max_size": maximum.map(CBORItem.integer)])
    }

    package struct Response: SMPResponse {
      package var value: [UInt8]
      /// The server's maximum in bytes, if it is lower than the requested maximum.
      package var maximum: Int?

      package init(value: [UInt8], maximum: Int? = nil) {
        self.value = value
        self.maximum = maximum
      }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        value = try fields.required("val")
        maximum = try fields.value("max_size")
      }

      package var body: CBORMap {
        CBORMap(["val": .bytes(value), "max_size": maximum.map(CBORItem.integer)])
      }
    }
  }

  /// Command 0, write: sets a value, which is lost at the next restart unless it is saved.
  package struct Write: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.settings, 0, .write)
    package var name: String
    package var value: [UInt8]

    package init(name: String, value: [UInt8]) {
      self.name = name
      self.value = value
    }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      name = try fields.required("name")
      value = try fields.required("val")
    }

    package var body: CBORMap { CBORMap(["name": .text(name), "val": .bytes(value)]) }
  }

  /// Command 1: deletes a stored value.
  package struct Delete: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.settings, 1, .write)
    package var name: String

    package init(name: String) { self.name = name }

    package init(fields: SMPFields) throws(SMPDecodeFault) { name = try fields.required("name") }

    package var body: CBORMap { CBORMap(["name": .text(name)]) }
  }

  /// Command 2: applies the changed values.
  package struct Commit: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.settings, 2, .write)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }
  }

  /// Command 3, read: loads the saved values.
  package struct Load: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.settings, 3, .read)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }
  }

  /// Command 3, write: saves the changed values.
  package struct Save: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.settings, 3, .write)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }
  }
}
