/// What a bootloader reports over Secure DFU, beyond what every protocol has.
public struct SecureDFUReport: Equatable, Sendable {
  /// Bytes of the image in one packet, at most.
  public var largestPacket: Int

  /// A report of a bootloader.
  public init(largestPacket: Int) { self.largestPacket = largestPacket }
}
