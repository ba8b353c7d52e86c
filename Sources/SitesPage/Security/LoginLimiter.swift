#if Sites
/// Limits failed logins, per account and per address of the client.
///
/// Both tables have a fixed number of slots, which are selected by a hash with a random key. The
/// memory is therefore limited, and no entry is removed: an attacker cannot reset a count by failed
/// logins with other accounts. Two accounts or addresses in the same slot share one limit.
struct LoginLimiter: Sendable {
  private struct Slot: Sendable {
    var failures = 0
    var last = Duration.zero
  }

  static let slotCount = 4096
  /// The number of failures without a wait.
  static let freeForAccount = 5
  /// The number is higher for an address, because several users may have the same address.
  static let freeForAddress = 20
  /// The wait after `freeForAccount` or `freeForAddress` failures. The wait doubles with each
  /// further failure.
  static let firstWait = Duration.seconds(10)
  static let longestWait = Duration.seconds(900)

  private var accounts = [Slot](repeating: Slot(), count: slotCount)
  private var addresses = [Slot](repeating: Slot(), count: slotCount)

  /// Admits an attempt, and counts the attempt as a failure until `succeeded` is called, so that
  /// concurrent attempts are also counted.
  ///
  /// - Returns: the remaining wait if the attempt is refused; `nil` if the attempt is admitted.
  mutating func admit(account: String, address: String, at now: Duration) -> Duration? {
    let (account, address) = (Self.slot(of: account), Self.slot(of: Self.network(of: address)))
    let waits = [
      Self.wait(accounts[account], Self.freeForAccount, at: now),
      Self.wait(addresses[address], Self.freeForAddress, at: now),
    ].compactMap(\.self)
    if let longest = waits.max() { return longest }
    Self.count(&accounts[account], at: now)
    Self.count(&addresses[address], at: now)
    return nil
  }

  /// Resets the failures of the account, and subtracts only this attempt from the failures of the
  /// address, because the other failures may concern other accounts.
  mutating func succeeded(account: String, address: String) {
    accounts[Self.slot(of: account)] = Slot()
    let place = Self.slot(of: Self.network(of: address))
    addresses[place].failures = max(0, addresses[place].failures - 1)
  }

  private static func wait(_ slot: Slot, _ free: Int, at now: Duration) -> Duration? {
    guard slot.failures >= free else { return nil }
    let doublings = min(slot.failures - free, 10)
    let wait = min(firstWait * (1 << doublings), longestWait)
    let end = slot.last + wait
    return end > now ? end - now : nil
  }

  private static func count(_ slot: inout Slot, at now: Duration) {
    // If a slot had no failure for the longest wait, its count restarts.
    if now - slot.last > longestWait { slot.failures = 0 }
    slot.failures = min(slot.failures + 1, 1000)
    slot.last = now
  }

  /// Returns the slot of a text. `Hasher` has a random key in each process.
  private static func slot(of text: String) -> Int {
    var hasher = Hasher()
    hasher.combine(text)
    return Int(UInt(bitPattern: hasher.finalize()) % UInt(slotCount))
  }

  /// Returns the /64 network of an IPv6 address, because a user can use all addresses of such a
  /// network.
  private static func network(of address: String) -> String {
    // An IPv4 address in IPv6 notation (RFC 4291, 2.5.5.2).
    if address.hasPrefix("::ffff:"), address.contains(".") { return String(address.dropFirst(7)) }
    guard address.contains(":") else { return address }
    let halves = address.components(separatedByDoubleColon: ())
    guard halves.count == 2 else {
      return address.split(separator: ":").prefix(4).joined(separator: ":")
    }
    let (head, tail) = (halves[0].split(separator: ":"), halves[1].split(separator: ":"))
    let zeros = Array(repeating: Substring("0"), count: max(0, 8 - head.count - tail.count))
    return (head + zeros + tail).prefix(4).joined(separator: ":")
  }
}

extension String {
  /// Returns the parts before and after `::`.
  fileprivate func components(separatedByDoubleColon: ()) -> [Substring] {
    guard let range = firstRange(of: "::") else { return [self[...]] }
    return [self[..<range.lowerBound], self[range.upperBound...]]
  }
}
#endif
