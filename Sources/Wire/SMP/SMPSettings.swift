/// The commands of the settings group (Zephyr, MCUmgr group 3) that an update needs.
package enum SMPSettings {
  /// Command 0: sets a value, which is lost at the next restart unless it is saved.
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

  /// Command 3: saves the changed values.
  package struct Save: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.settings, 3, .write)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }
  }
}
