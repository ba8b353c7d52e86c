import COtaflashBluetooth
import Glibc

/// The switches that silence radios (kernel Documentation/driver-api/rfkill.rst).
package struct RFKillSwitch: Equatable, Sendable {
  package let number: UInt32
  /// Blocked by software: `rfkill unblock bluetooth` lifts it.
  package let isSoftBlocked: Bool
  /// Blocked by a key or a slider on the machine.
  package let isHardBlocked: Bool

  /// Reads one `struct rfkill_event` of /dev/rfkill: number, type, operation, soft, hard. `nil`
  /// when it is not the presence of a Bluetooth switch.
  init?(decoding bytes: some Collection<UInt8>) {
    let all = Array(bytes)
    let bluetooth: UInt8 = 2
    let (added, changed): (UInt8, UInt8) = (0, 2)
    guard all.count >= 8, all[4] == bluetooth, [added, changed].contains(all[5]) else { return nil }
    number = all[0..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    isSoftBlocked = all[6] != 0
    isHardBlocked = all[7] != 0
  }

  /// The Bluetooth switches of this machine; `nil` where there is no /dev/rfkill to read.
  package static func all(device: String = "/dev/rfkill") -> [RFKillSwitch]? {
    let raw = Glibc.open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard raw >= 0 else { return nil }
    let descriptor = FileDescriptor(owning: raw)
    var switches: [RFKillSwitch] = []
    var bytes = [UInt8](repeating: 0, count: 16)
    // The device first tells every switch there is, one a read, and then would block. A file in
    // its place ends instead.
    for _ in 0..<switchMaximum {
      let count = read(descriptor.raw, &bytes, bytes.count)
      guard count > 0 else { break }
      if let found = RFKillSwitch(decoding: bytes.prefix(count)) { switches.append(found) }
    }
    return switches
  }

  private static let switchMaximum = 256
}
