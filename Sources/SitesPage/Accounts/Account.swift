#if Sites
/// A user or program that may use the page and the API.
package struct Account: Hashable, Sendable, Codable {
  /// The maximum length of a name in bytes. Events contain the name of the account as the operator.
  package static let nameMaximum = 64

  package let name: String
  package var role: AccountRole
  /// The password for the page; `nil` if the account uses only the API.
  package var password: PasswordHash?
  /// The tokens for the API.
  package var tokens: [AccessToken.Stored]

  package init(
    name: String, role: AccountRole, password: PasswordHash? = nil,
    tokens: [AccessToken.Stored] = []
  ) {
    self.name = name
    self.role = role
    self.password = password
    self.tokens = tokens
  }

  /// Returns whether a name consists of 1 to 64 letters, digits and `.`, `_`, `@`, `-` (ASCII).
  /// Such a name can be typed, and is displayed without escapes.
  package static func isName(_ name: String) -> Bool {
    (1...nameMaximum).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "@"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}

extension PasswordHash: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let hash = PasswordHash(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "this is not a scrypt hash in PHC format")
    }
    self = hash
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
#endif
