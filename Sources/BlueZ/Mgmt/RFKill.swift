import COtaflashBluetooth
import Glibc

/// An rfkill switch, which disables radios (kernel Documentation/driver-api/rfkill.rst).
package struct RFKillSwitch: Equatable, Sendable {
  package let number: UInt32
  /// Whether software blocks the adapter; `rfkill unblock bluetooth` removes the block.
  package let isSoftBlocked: Bool
  /// Whether a hardware key or switch of the computer blocks the adapter.
  package let isHardBlocked: Bool

  /// Decodes one `struct rfkill_event` of /dev/rfkill: number, type, operation, soft, hard. Returns
  /// `nil` unless the event reports the presence of a Bluetooth switch.
  init?(decoding bytes: some Collection<UInt8>) {
    let all = Array(bytes)
    let bluetooth: UInt8 = 2
    let (added, changed): (UInt8, UInt8) = (0, 2)
    guard all.count >= 8, all[4] == bluetooth, [added, changed].contains(all[5]) else { return nil }
    number = all[0..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    isSoftBlocked = all[6] != 0
    isHardBlocked = all[7] != 0
  }

  /// Returns the Bluetooth switches of the host; `nil` if /dev/rfkill cannot be read.
  package static func all(device: String = "/dev/rfkill") -> [RFKillSwitch]? {
    let raw = Glibc.open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard raw >= 0 else { return nil }
    let descriptor = FileDescriptor(owning: raw)
    var switches: [RFKillSwitch] = []
    var bytes = [UInt8](repeating: 0, count: 16)
    // The device first reports every switch, one per read, and then has no further data. A regular
    // file, as in a test, ends instead.
    for _ in 0..<switchMaximum {
      let count = read(descriptor.raw, &bytes, bytes.count)
      guard count > 0 else { break }
      if let found = RFKillSwitch(decoding: bytes.prefix(count)) { switches.append(found) }
    }
    return switches
  }

  private static let switchMaximum = 256
}
