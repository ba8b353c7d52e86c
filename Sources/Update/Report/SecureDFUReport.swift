/// The values that only bootloaders with Secure DFU report.
public struct SecureDFUReport: Equatable, Sendable {
  /// The maximum number of image bytes in one packet.
  public var largestPacket: Int

  /// Creates the report of a bootloader.
  public init(largestPacket: Int) { self.largestPacket = largestPacket }
}
