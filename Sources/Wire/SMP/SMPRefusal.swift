/// An SMP server's refusal of a request.
package struct SMPRefusal: Error, Equatable, Sendable {
  package enum Code: Equatable, Sendable {
    /// The error code `rc`, which is common to all groups.
    case general(Int32)
    /// The error code `err`, which is specific to the group that refused (version 2).
    case group(SMPGroup, Int32)
  }

  package let code: Code
  /// The server's message, if any.
  package let reason: String?

  package init(_ code: Code, reason: String? = nil) {
    self.code = code
    self.reason = reason
  }

  /// Decodes the refusal in a response's fields; `nil` if the request was executed.
  init?(fields: SMPFields) throws(SMPDecodeFault) {
    if let error = try fields.fields("err") {
      let rc: Int32 = try error.required("rc")
      guard let group = UInt16(exactly: try error.required("group", of: Int.self)) else {
        throw .wrongKind("err.group", expected: "a number of 16 bits")
      }
      if rc != 0 {
        self.init(.group(SMPGroup(group), rc))
        return
      }
    }
    guard let rc: Int32 = try fields.value("rc"), rc != 0 else { return nil }
    self.init(.general(rc), reason: try fields.value("rsn"))
  }

  /// Returns the body of the refusal. Version 1 has no field for the code of a group, so such a
  /// code is replaced by "unknown".
  func body(in version: SMPVersion) -> CBORMap {
    switch (code, version) {
    case (.general(let rc), _):
      CBORMap(["rc": .integer(Int(rc)), "rsn": reason.map(CBORItem.text)])
    case (.group(let group, let rc), .v2):
      CBORMap([
        "err": .map(
          CBORMap(["group": .integer(Int(group.rawValue)), "rc": .integer(Int(rc))]))
      ])
    case (.group, .v1):
      CBORMap(["rc": .integer(Int(Self.unknown)), "rsn": reason.map(CBORItem.text)])
    }
  }

  /// The codes MGMT_ERR_ENOENT and MGMT_ERR_EBADSTATE, and the code of the image group that means
  /// the same for an upload or an erase.
  private static let noEntry: Int32 = 5
  private static let badState: Int32 = 6
  private static let imageNoFreeSlot: Int32 = 9

  /// Whether servers respond with this code to an upload or an erase if no slot is free.
  package var meansNoFreeSlot: Bool {
    [
      .general(Self.noEntry), .general(Self.badState), .group(.image, Self.imageNoFreeSlot),
    ].contains(code)
  }

  /// Whether the server reports that the slot of an upload or an erase does not exist.
  package var isNoEntry: Bool { code == .general(Self.noEntry) }

  /// MGMT_ERR_EUNKNOWN.
  package static let unknown: Int32 = 1
  /// The code MGMT_ERR_ENOMEM, and the corresponding code of the image group.
  static let noMemory: Int32 = 2
  static let imageNoMemory: Int32 = 15
  /// MGMT_ERR_ENOTSUP.
  package static let notSupported: Int32 = 8
  /// MGMT_ERR_EBUSY.
  static let busy: Int32 = 10
  /// MGMT_ERR_UNSUPPORTED_TOO_NEW.
  static let tooNew: Int32 = 13

  /// Whether the server supports only the first version.
  package var isTooNew: Bool { code == .general(Self.tooNew) }
  /// Whether the server does not support the command.
  package var isNotSupported: Bool { code == .general(Self.notSupported) }
  /// Whether the server has no memory for this request; fewer requests at a time may succeed.
  package var isOutOfMemory: Bool {
    code == .general(Self.noMemory) || code == .group(.image, Self.imageNoMemory)
  }
  /// Whether the server cannot execute the request now, but may do so later.
  package var isBusy: Bool { code == .general(Self.busy) }
}
