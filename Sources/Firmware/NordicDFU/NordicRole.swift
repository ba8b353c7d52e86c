/// The part of a Nordic device that a firmware file replaces.
public enum NordicRole: String, Sendable, CaseIterable {
  /// The application.
  case application
  /// Nordic's Bluetooth stack.
  case softdevice
  /// The program that updates the other parts.
  case bootloader
  /// SoftDevice and bootloader, which are replaced together.
  case softdeviceAndBootloader = "softdevice_bootloader"

  /// Whether this is the application, which a package sends after the other parts.
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

/// The sizes of the parts in a firmware file.
public struct NordicSizes: Hashable, Sendable {
  /// The size of the SoftDevice in bytes; 0 = not present.
  public let softdevice: UInt32
  /// The size of the bootloader in bytes; 0 = not present.
  public let bootloader: UInt32
  /// The size of the application in bytes; 0 = not present.
  public let application: UInt32

  /// Creates sizes in bytes.
  public init(softdevice: UInt32 = 0, bootloader: UInt32 = 0, application: UInt32 = 0) {
    self.softdevice = softdevice
    self.bootloader = bootloader
    self.application = application
  }

  /// The sum of the sizes, which cannot overflow because each size has 32 bits.
  public var total: Int { Int(softdevice) + Int(bootloader) + Int(application) }
}
