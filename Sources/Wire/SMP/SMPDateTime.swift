/// The device's clock: command 4 of the OS management group.
extension SMPOS {
  /// Reads the clock.
  package struct ReadDateTime: SMPRequest {
    package static let command = SMPCommand(.os, 4, .read)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }

    package struct Response: SMPResponse {
      /// The time as `yyyy-MM-ddTHH:mm:ss`, in some builds followed by `.` and milliseconds.
      package var text: String

      package init(_ text: String) { self.text = text }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        text = try fields.required("datetime")
      }

      package var body: CBORMap { CBORMap(["datetime": .text(text)]) }
    }
  }

  /// Sets the clock.
  package struct WriteDateTime: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.os, 4, .write)
    /// The time as `yyyy-MM-ddTHH:mm:ss`. The server knows no time zones.
    package var text: String

    package init(_ text: String) { self.text = text }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      text = try fields.required("datetime")
    }

    package var body: CBORMap { CBORMap(["datetime": .text(text)]) }
  }
}
