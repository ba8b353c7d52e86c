#if Sites
import OtaflashConsole

/// The secret of a session in the cookie of a browser: 256 random bits. The page stores only the
/// hash of the secret.
struct SessionKey: Hashable, Sendable {
  private static let size = 32
  fileprivate let hash: [UInt8]
  /// The value of the cookie.
  let text: String

  init() { self.init(bytes: SecretBytes.random(Self.size)) }

  init?(_ text: String) {
    guard text.utf8.count == 2 * Self.size, let bytes = Text.bytes(hex: text) else { return nil }
    self.init(bytes: bytes)
  }

  private init(bytes: [UInt8]) {
    text = Text.hex(bytes)
    hash = SecretBytes.sha256(bytes)
  }
}

/// A user who has logged in.
struct Session: Hashable, Sendable {
  let account: String
  /// The secret that every form of the session contains.
  let formToken: String
  let began: Duration
  var used: Duration
}

/// The sessions of all users. They are lost when the page restarts.
struct SessionTable: Sendable {
  /// The time without requests after which a session ends.
  static let idleLifetime = Duration.seconds(2 * 3600)
  /// The time after which a session ends, even if it has requests.
  static let lifetime = Duration.seconds(12 * 3600)
  /// The maximum number of sessions of an account; a further session ends the session whose last
  /// request was the earliest.
  static let maximumPerAccount = 16

  private var sessions: [[UInt8]: Session] = [:]

  var count: Int { sessions.count }

  /// Starts a session.
  mutating func begin(for account: String, at now: Duration) -> SessionKey {
    sessions = sessions.filter { Self.isValid($0.value, at: now) }
    let own = sessions.filter { $0.value.account == account }
    if own.count >= Self.maximumPerAccount,
      let oldest = own.min(by: { $0.value.used < $1.value.used })
    {
      sessions[oldest.key] = nil
    }
    let key = SessionKey()
    sessions[key.hash] = Session(
      account: account, formToken: SessionKey().text, began: now, used: now)
    return key
  }

  /// Returns the session of a key, and extends the session unless `isPassive` is true; returns
  /// `nil` if the session is not valid.
  mutating func session(of key: SessionKey, at now: Duration, isPassive: Bool = false) -> Session? {
    guard let session = sessions[key.hash] else { return nil }
    guard Self.isValid(session, at: now) else {
      sessions[key.hash] = nil
      return nil
    }
    if !isPassive { sessions[key.hash]?.used = now }
    return session
  }

  mutating func end(_ key: SessionKey) { sessions[key.hash] = nil }

  mutating func endAll(of account: String) {
    sessions = sessions.filter { $0.value.account != account }
  }

  func count(of account: String, at now: Duration) -> Int {
    sessions.values.count { $0.account == account && Self.isValid($0, at: now) }
  }

  private static func isValid(_ session: Session, at now: Duration) -> Bool {
    now - session.used < idleLifetime && now - session.began < lifetime
  }
}
#endif
