/// An SMP server's refusal of a request.
package struct SMPRefusal: Error, Equatable, Sendable {
  package enum Code: Equatable, Sendable {
    /// `rc`, the same in every group.
    case general(Int32)
    /// `err`, of the group that refused (version 2).
    case group(SMPGroup, Int32)
  }

  package let code: Code
  /// The server's own words, where it has some.
  package let reason: String?

  package init(_ code: Code, reason: String? = nil) {
    self.code = code
    self.reason = reason
  }

  /// The refusal in a response's fields, or `nil` when the request was carried out.
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

  /// Version 1 has no place for a group's own code: there it is "unknown".
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

  /// MGMT_ERR_ENOENT and MGMT_ERR_EBADSTATE, and the image group's own.
  private static let noEntry: Int32 = 5
  private static let badState: Int32 = 6
  private static let imageNoFreeSlot: Int32 = 9

  /// What servers answer to an upload or an erase for which no slot is free.
  package var meansNoFreeSlot: Bool {
    [
      .general(Self.noEntry), .general(Self.badState), .group(.image, Self.imageNoFreeSlot),
    ].contains(code)
  }

  /// Of an upload or an erase: there is no slot for it.
  package var isNoEntry: Bool { code == .general(Self.noEntry) }

  /// MGMT_ERR_EUNKNOWN.
  static let unknown: Int32 = 1
  /// MGMT_ERR_ENOMEM, and the image group's own.
  static let noMemory: Int32 = 2
  static let imageNoMemory: Int32 = 15
  /// MGMT_ERR_ENOTSUP.
  static let notSupported: Int32 = 8
  /// MGMT_ERR_EBUSY.
  static let busy: Int32 = 10
  /// MGMT_ERR_UNSUPPORTED_TOO_NEW.
  static let tooNew: Int32 = 13

  /// The server speaks the first version only.
  package var isTooNew: Bool { code == .general(Self.tooNew) }
  /// The server does not know the command.
  package var isNotSupported: Bool { code == .general(Self.notSupported) }
  /// The server has no memory for this request: fewer at once may do.
  package var isOutOfMemory: Bool {
    code == .general(Self.noMemory) || code == .group(.image, Self.imageNoMemory)
  }
  /// The server would do it at another time.
  package var isBusy: Bool { code == .general(Self.busy) }
}
