import OtaflashGATT

extension LocalAdapter {
  /// Returns the address of the adapter with this number; `nil` if `number` is `nil`, in which case
  /// the kernel chooses the adapter.
  ///
  /// - Parameter number: the number of the adapter; `hci0` is 0.
  /// - Throws: `ConnectFault`, because the address is read while connecting to a device.
  public static func address(
    of number: UInt16?
  ) async throws(ConnectFault) -> BluetoothAddress? {
    guard let number else { return nil }
    return try await address(of: number) { () throws(MgmtFault) in try MgmtSession() }
  }

  static func address(
    of number: UInt16, open: () throws(MgmtFault) -> MgmtSession
  ) async throws(ConnectFault) -> BluetoothAddress {
    do throws(MgmtFault) {
      let session = try open()
      defer { session.close() }
      let answer = try await session.perform(.readControllerInformation, index: number)
      return try MgmtIndexList.information(answer).address
    } catch {
      throw error.onTheWayToADevice
    }
  }
}

extension MgmtFault {
  /// The failure of a connection attempt that corresponds to this fault.
  fileprivate var onTheWayToADevice: ConnectFault {
    switch self {
    case .adapterUnavailable(let cause, let remedy), .unsupported(let cause, let remedy):
      .adapterUnavailable(cause: cause, remedy: remedy)
    case .permissionDenied(let cause, let remedy):
      .permissionDenied(cause: cause, remedy: remedy)
    case .busy(let cause, let remedy): .busy(cause: cause, remedy: remedy)
    case .cancelled: .cancelled
    case .systemCall(let name, let errno):
      .systemCall(
        name: name, errno: errno, cause: "The adapters cannot be listed.",
        remedy: .advice("Let the kernel choose the adapter."))
    case .refused, .noAnswer, .malformed, .socket:
      .adapterUnavailable(
        cause: "The kernel did not report the address of the adapter.",
        remedy: .advice("Let the kernel choose the adapter."))
    }
  }
}
