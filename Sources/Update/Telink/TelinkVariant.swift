/// A way to send an image: the length of the PDUs, and the command that starts the transfer.
enum TelinkVariant: Hashable, Sendable {
  /// PDUs of 16 bytes, for every device.
  case legacy
  /// PDUs of this number of image bytes.
  case extended(Int)

  var pduLength: Int {
    switch self {
    case .legacy: TelinkOTA.unit
    case .extended(let length): length
    }
  }

  /// Returns the variant for an image: a device knows the size of the image only after the first
  /// PDU, and accepts no first PDU that is shorter than the PDU length.
  ///
  /// - Parameter total: the number of image bytes, 16 or more.
  func fitted(to total: Int) -> TelinkVariant {
    switch self {
    case .legacy: .legacy
    case .extended(let length):
      .extended(max(TelinkOTA.unit, min(length, total / TelinkOTA.unit * TelinkOTA.unit)))
    }
  }

  /// Returns the variants to try, fastest first. A device ends the link after each variant that it
  /// does not accept.
  ///
  /// - Parameters:
  ///   - mtu: the ATT_MTU.
  ///   - notifies: whether the characteristic has a configuration descriptor; without this
  ///     descriptor, a device has an old SDK.
  ///   - wanted: the number of image bytes that the caller chose; `nil` = the fastest.
  static func ladder(mtu: Int, notifies: Bool, wanted: Int?) -> [TelinkVariant] {
    let fitting = min(TelinkOTA.pduMaximum, mtu - TelinkOTA.attOverhead, wanted ?? .max)
    let longest = fitting / TelinkOTA.unit * TelinkOTA.unit
    // A caller that chose the shortest packets may have a device that supports no other packets.
    guard notifies, longest >= TelinkOTA.unit, wanted ?? .max >= 2 * TelinkOTA.unit else {
      return [.legacy]
    }
    let shorter = [shortLength, TelinkOTA.unit].filter { $0 < longest }
    return ([longest] + shorter).map(TelinkVariant.extended) + [.legacy]
  }

  /// The longest PDU that TLSR825x chips accept, in image bytes.
  private static let shortLength = 80

  /// Returns the command that starts the transfer.
  func start(comparingVersion: Bool) -> TelinkCommand {
    switch self {
    case .legacy: .start
    case .extended(let length):
      .startExtended(pduLength: UInt8(length), comparesVersion: comparingVersion)
    }
  }
}
