#if Sites
import Hummingbird

/// The cookies of the page. With TLS the names of the cookies have the prefix `__Host-`, so that no
/// other host of the domain can set the cookies.
struct PageCookies: Sendable {
  let hasTLS: Bool

  private var prefix: String { hasTLS ? "__Host-" : "" }
  private var attributes: String {
    "; Path=/; HttpOnly; SameSite=Strict" + (hasTLS ? "; Secure" : "")
  }

  var sessionName: String { prefix + "otaflash-session" }
  var loginName: String { prefix + "otaflash-login" }

  /// Returns a value for `Set-Cookie`. The cookie is removed when the browser or the session ends.
  func setting(_ name: String, to key: SessionKey) -> String { "\(name)=\(key.text)\(attributes)" }

  func clearing(_ name: String) -> String { "\(name)=; Max-Age=0\(attributes)" }

  func key(_ name: String, in request: Request) -> SessionKey? {
    for field in request.headers[values: .cookie] {
      for part in field.split(separator: ";") {
        let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
        if pair.count == 2, pair[0] == name { return SessionKey(String(pair[1])) }
      }
    }
    return nil
  }
}
#endif
