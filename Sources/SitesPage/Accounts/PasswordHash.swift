#if Sites
import Crypto
import CryptoExtras
import FoundationEssentials
import OtaflashConsole

/// A stored password: scrypt (RFC 7914) with a random salt, as text in the PHC string format:
/// `$scrypt$ln=15,r=8,p=3$SALT$HASH`, with salt and hash in hex digits.
package struct PasswordHash: Hashable, Sendable {
  /// The cost of one derivation.
  package struct Cost: Hashable, Sendable {
    /// The binary logarithm of the number of rounds.
    package let logarithm: Int
    package let parallelism: Int

    /// The recommended cost of OWASP (Password Storage Cheat Sheet, scrypt: N = 2^15, r = 8, p =
    /// 3). A derivation uses 128 · r · 2^ln bytes of memory, which is 32 MiB.
    package static let standard = Cost(logarithm: 15, parallelism: 3)
    /// A lower cost for tests only, because tests compile the library without optimization.
    package static let test = Cost(logarithm: 4, parallelism: 1)

    /// The permitted ranges of a cost in a file; larger values would use too much memory.
    fileprivate static let logarithms = 4...17
    fileprivate static let parallelisms = 1...16
  }

  private static let blockSize = 8
  private static let saltSize = 16
  private static let hashSize = 32
  /// The permitted lengths, in bytes (NIST SP 800-63B: at least 8 characters, and a limit of at
  /// least 64).
  package static let lengths = 12...256

  private let cost: Cost
  private let salt: [UInt8]
  private let hash: [UInt8]

  /// Hashes a password with a new salt.
  package init(of password: String, cost: Cost = .standard) {
    let salt = SecretBytes.random(Self.saltSize)
    self.cost = cost
    self.salt = salt
    hash = Self.derive(password, salt, cost)
  }

  /// Returns whether the password is the stored password. The duration depends only on the cost.
  package func matches(_ password: String) -> Bool {
    SecretBytes.areEqual(Self.derive(password, salt, cost), hash)
  }

  private static func derive(_ password: String, _ salt: [UInt8], _ cost: Cost) -> [UInt8] {
    do {
      let key = try KDF.Scrypt.deriveKey(
        from: Data(password.utf8), salt: Data(salt), outputByteCount: hashSize,
        rounds: 1 << cost.logarithm, blockSize: blockSize, parallelism: cost.parallelism)
      return key.withUnsafeBytes { Array($0) }
    } catch {
      // scrypt fails only if a parameter is outside of the checked limits.
      preconditionFailure("scrypt failed: \(error)")
    }
  }
}

extension PasswordHash: LosslessStringConvertible {
  package var description: String {
    "$scrypt$ln=\(cost.logarithm),r=\(Self.blockSize),p=\(cost.parallelism)$\(Text.hex(salt))$"
      + Text.hex(hash)
  }

  package init?(_ text: String) {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
    let values = parts[2].split(separator: ",").map { $0.split(separator: "=") }
    guard values.count == 3, values.allSatisfy({ $0.count == 2 }),
      values.map({ $0[0] }) == ["ln", "r", "p"], let logarithm = Int(values[0][1]),
      Int(values[1][1]) == Self.blockSize, let parallelism = Int(values[2][1]),
      Cost.logarithms.contains(logarithm), Cost.parallelisms.contains(parallelism),
      let salt = Text.bytes(hex: parts[3]), salt.count == Self.saltSize,
      let hash = Text.bytes(hex: parts[4]), hash.count == Self.hashSize
    else { return nil }
    cost = Cost(logarithm: logarithm, parallelism: parallelism)
    self.salt = salt
    self.hash = hash
  }
}

/// Random secrets and their comparison.
package enum SecretBytes {
  /// Returns random bytes from the generator of the operating system.
  package static func random(_ count: Int) -> [UInt8] {
    SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
  }

  /// Returns whether two byte arrays are equal. The duration depends only on their lengths.
  package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
  }

  static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}
#endif
