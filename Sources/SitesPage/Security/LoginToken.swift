#if Sites
import Crypto
import FoundationEssentials
import OtaflashConsole

/// The token of the login form, before there is a session: the form contains a message
/// authentication code of the nonce in a cookie, so another site can neither predict nor set a
/// matching pair. The page stores nothing.
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
