#if Sites
import Crypto
import FoundationEssentials
import OtaflashConsole

/// The token of the login form before a session exists. The form contains a message authentication
/// code of the nonce in a cookie, so that another site can neither predict nor set a matching pair.
/// The page stores no data for these tokens.
struct LoginToken: Sendable {
  private let key = SymmetricKey(size: .bits256)

  func code(for nonce: SessionKey) -> String {
    Text.hex(Array(HMAC<SHA256>.authenticationCode(for: Data(nonce.text.utf8), using: key)))
  }

  func isValid(_ code: String, for nonce: SessionKey) -> Bool {
    SecretBytes.areEqual(Array(code.utf8), Array(self.code(for: nonce).utf8))
  }
}
#endif
