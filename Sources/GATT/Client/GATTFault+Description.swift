import OtaflashATT

extension GATTFault: CustomStringConvertible {
  /// A whole sentence for people.
  public var description: String {
    switch self {
    case .refused(let handle, let code): "The device refused attribute \(handle): \(code)."
    case .insecure(let handle, _, let fault):
      "Attribute \(handle) of the device wants a more secure link. \(fault)"
    case .violation(let what): "The device broke the attribute protocol: \(what)."
    case .transactionTimedOut: "The device did not answer a request in time."
    case .linkLost(let loss): "The link was lost: \(loss)."
    case .cancelled: "The procedure was cancelled."
    case .timedOut(let limit): "The procedure took longer than \(limit)."
    case .notFound(let uuid): "The device has no attribute \(uuid)."
    case .notPermitted(let uuid, let needs):
      "Characteristic \(uuid) of the device does not permit to \(needs)."
    case .queueFull(let limit): "More than \(limit) procedures wait for the device."
    case .mtuOutOfRange(let octets):
      "An ATT_MTU of \(octets) was asked for; 23 to 517 are possible."
    case .unsubscribed: "The subscription was ended for all who had it."
    case .valueTooLong(let octets, let limit):
      "The value has \(octets) octets, where \(limit) fit."
    }
  }
}
