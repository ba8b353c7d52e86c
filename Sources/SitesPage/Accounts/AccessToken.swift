#if Sites
import OtaflashConsole

/// A secret for programs: `otaflash_ID_SECRET`. The page stores only the SHA-256 of the secret
/// part. A slow hash is not necessary, because the secret part has 256 random bits.
package struct AccessToken: Hashable, Sendable {
  /// The stored form.
  package struct Stored: Hashable, Sendable, Codable {
    /// The identifier with which the page finds the token. The identifier is not secret.
    package let id: String
    /// The purpose, such as `nightly build`.
    package let label: String
    /// The SHA-256 of the secret part, in hex digits.
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

  /// The text that the program sends. The text is shown only when the token is created.
  package var text: String { "\(Self.prefix)_\(id)_\(Text.hex(secret))" }

  package func stored(label: String) -> Stored {
    Stored(id: id, label: label, sha256: Text.hex(SecretBytes.sha256(secret)))
  }
}
#endif
