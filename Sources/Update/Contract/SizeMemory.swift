import OtaflashATT
import OtaflashGATT

/// Where it is remembered which sizes of data writes were the best over real links, so that an
/// update of the same kind of device need not find out again. Who makes one speaks for one adapter.
public struct SizeMemory: Sendable {
  /// What a size was the best for: a kind of device, and a link as far as it is known.
  public struct Setting: Hashable, Sendable {
    /// The protocol and the hardware, as the device tells them.
    public let device: String
    /// ATT_MTU, 23…517 bytes.
    public let mtu: Int
    /// `nil` = not known.
    public let phy: PHY?
    /// `nil` = not known.
    public let connectionInterval: Duration?

    /// - Parameters:
    ///   - device: the protocol and the hardware.
    ///   - mtu: ATT_MTU, 23…517.
    ///   - phy: `nil` = not known.
    ///   - connectionInterval: `nil` = not known.
    public init(device: String, mtu: Int, phy: PHY?, connectionInterval: Duration?) {
      self.device = device
      self.mtu = mtu
      self.phy = phy
      self.connectionInterval = connectionInterval
    }
  }

  /// A size that was kept, and what it brought.
  public struct Size: Equatable, Sendable {
    /// Bytes of data in a write, 1…512.
    public let chunk: Int
    /// Bytes of data that the device acknowledged in a second, more than 0.
    public let bytesPerSecond: Double

    /// - Parameters:
    ///   - chunk: bytes of data in a write, 1…512.
    ///   - bytesPerSecond: more than 0.
    public init(chunk: Int, bytesPerSecond: Double) {
      self.chunk = chunk
      self.bytesPerSecond = bytesPerSecond
    }
  }

  let recall: @Sendable (Setting) -> Size?
  let keep: @Sendable (Setting, Size) -> Void

  /// - Parameters:
  ///   - recall: what was kept for a setting; asked once an update. A hint: what does clearly worse
  ///     than it did then is tried anew.
  ///   - keep: told what trying has shown; must return soon.
  public init(
    recall: @escaping @Sendable (Setting) -> Size?,
    keep: @escaping @Sendable (Setting, Size) -> Void
  ) {
    self.recall = recall
    self.keep = keep
  }
}
