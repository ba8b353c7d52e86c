/// The effective capabilities that are relevant for Bluetooth (linux/capability.h).
struct Capabilities: Equatable, Sendable {
  let hasNetAdmin: Bool
  let hasNetRaw: Bool

  /// Reads the `CapEff` line of /proc/self/status; returns `nil` if the line is missing or
  /// malformed.
  init?(status: String) {
    let (netAdmin, netRaw): (UInt64, UInt64) = (1 << 12, 1 << 13)
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
      let digits = line.split(whereSeparator: \.isWhitespace).last,
      let mask = UInt64(digits, radix: 16)
    else { return nil }
    hasNetAdmin = mask & netAdmin != 0
    hasNetRaw = mask & netRaw != 0
  }

  /// The capabilities of this process; `nil` if /proc does not report them.
  static var ofThisProcess: Capabilities? {
    ProcessFile.read("/proc/self/status").flatMap { Capabilities(status: $0) }
  }
}
