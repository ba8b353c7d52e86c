#if Sites
import OtaflashConsole

/// A secret for programs: `otaflash_ID_SECRET`. Only the SHA-256 of its secret is stored; a slow
/// hash is not necessary, because the secret has 256 random bits.
package struct AccessToken: Hashable, Sendable {
  /// The stored form.
  package struct Stored: Hashable, Sendable, Codable {
    /// Finds the token; not a secret.
    package let id: String
    /// The purpose, such as `nightly build`.
    package let label: String
    /// SHA-256 of the secret, in hex digits.
    package let sha256: String

    package init(id: String, label: String, sha256: String) {
      self.id = id
      self.label = label
      self.sha256 = sha256
    }

    func matches(_ token: AccessToken) -> Bool {
      guard let stored = Text.bytes(hex: sha256) else { return false }
      return SecretBytes.areEqual(stored, SecretBytes.sha256(token.secret))
    }
  }

  private static let prefix = "otaflash"
  private static let idSize = 4
  private static let secretSize = 32

  package let id: String
  fileprivate let secret: [UInt8]

  /// Creates a random token.
  package init() {
    id = Text.hex(SecretBytes.random(Self.idSize))
    secret = SecretBytes.random(Self.secretSize)
  }

  package init?(_ text: String) {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, parts[0] == Self.prefix,
      parts[1].utf8.count == 2 * Self.idSize, let secret = Text.bytes(hex: parts[2]),
      secret.count == Self.secretSize
    else { return nil }
    id = parts[1]
    self.secret = secret
  }

  /// The text that the program sends; it is shown once.
  package var text: String { "\(Self.prefix)_\(id)_\(Text.hex(secret))" }

  package func stored(label: String) -> Stored {
    Stored(id: id, label: label, sha256: Text.hex(SecretBytes.sha256(secret)))
  }
}
#endif
