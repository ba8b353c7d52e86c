/// What of a Nordic device a firmware file replaces.
public enum NordicRole: String, Sendable, CaseIterable {
  /// What the device is for.
  case application
  /// Nordic's Bluetooth stack.
  case softdevice
  /// What updates the others.
  case bootloader
  /// Both, which are replaced together.
  case softdeviceAndBootloader = "softdevice_bootloader"

  /// An application waits until the rest has been started.
  var isApplication: Bool { self == .application }
}

extension NordicRole: CustomStringConvertible {
  public var description: String {
    switch self {
    case .application: "application"
    case .softdevice: "SoftDevice"
    case .bootloader: "bootloader"
    case .softdeviceAndBootloader: "SoftDevice and bootloader"
    }
  }
}

/// How many bytes of a firmware file belong to whom.
public struct NordicSizes: Hashable, Sendable {
  /// In bytes; 0 where there is none.
  public let softdevice: UInt32
  /// In bytes; 0 where there is none.
  public let bootloader: UInt32
  /// In bytes; 0 where there is none.
  public let application: UInt32

  /// Sizes in bytes.
  public init(softdevice: UInt32 = 0, bootloader: UInt32 = 0, application: UInt32 = 0) {
    self.softdevice = softdevice
    self.bootloader = bootloader
    self.application = application
  }

  /// Cannot overflow: three 32-bit numbers.
  public var total: Int { Int(softdevice) + Int(bootloader) + Int(application) }
}
