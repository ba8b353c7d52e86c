#if Sites
import FoundationEssentials
import Glibc

/// The file of accounts in JSON. Only its owner can read the file (mode 0600).
package struct AccountsFile: Sendable {
  /// The maximum size in bytes.
  private static let sizeMaximum = 4 << 20
  private static let format = 1

  private struct Content: Codable {
    var format: Int
    var accounts: [Account]
  }

  /// The identity of the content: a changed file has another identity.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let number: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int
  }

  package let path: String

  package init(path: String) { self.path = path }

  var identity: Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Identity(status)
  }

  /// Reads the accounts.
  package func read() throws(AccountsFault) -> [Account] { try readWithIdentity().accounts }

  func readWithIdentity() throws(AccountsFault) -> (accounts: [Account], identity: Identity) {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else {
      throw errno == ENOENT ? .missing(path: path) : .system(path: path, errno: errno)
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system(path: path, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    guard status.st_uid == geteuid() else { throw .otherOwner(path: path) }
    guard status.st_mode & 0o077 == 0 else {
      throw .notPrivate(path: path, mode: status.st_mode & 0o777)
    }
    guard status.st_size <= Self.sizeMaximum else {
      throw .invalid(path: path, words: "it is larger than \(Self.sizeMaximum) bytes")
    }
    return (try decode(try bytes(of: file)), Identity(status))
  }

  private func bytes(of file: Int32) throws(AccountsFault) -> [UInt8] {
    var content: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while content.count <= Self.sizeMaximum {
      let count = Glibc.read(file, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(path: path, errno: errno) }
      if count == 0 { break }
      content += part[..<count]
    }
    return content
  }

  private func decode(_ bytes: [UInt8]) throws(AccountsFault) -> [Account] {
    let content: Content
    do { content = try JSONDecoder().decode(Content.self, from: Data(bytes)) } catch {
      throw .invalid(path: path, words: "\(error)")
    }
    guard content.format == Self.format else {
      throw .invalid(path: path, words: "its format is \(content.format), not \(Self.format)")
    }
    for account in content.accounts where !Account.isName(account.name) {
      throw .invalid(path: path, words: "\(AccountsFault.badName(account.name))")
    }
    guard Set(content.accounts.map(\.name)).count == content.accounts.count else {
      throw .invalid(path: path, words: "two accounts have the same name")
    }
    return content.accounts
  }

  // MARK: Changes

  /// Reads, changes and replaces the file in one locked operation. A missing file is created.
  package func update<Value>(
    _ change: (inout [Account]) throws(AccountsFault) -> Value
  ) throws(AccountsFault) -> Value {
    let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw .system(path: path, errno: errno) }
    defer { close(lock) }
    var accounts: [Account] = []
    do throws(AccountsFault) { accounts = try read() } catch {
      guard case .missing = error else { throw error }
    }
    let value = try change(&accounts)
    try replace(with: accounts)
    return value
  }

  private func replace(with accounts: [Account]) throws(AccountsFault) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let bytes: [UInt8]
    do {
      bytes = [UInt8](try encoder.encode(Content(format: Self.format, accounts: accounts)))
    } catch {
      throw .invalid(path: path, words: "\(error)")
    }
    let draft = "\(path).\(getpid()).new"
    unlink(draft)
    let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw .system(path: path, errno: errno) }
    var failure: Int32?
    var written = 0
    while written < bytes.count, failure == nil {
      let count = bytes.withUnsafeBytes {
        write(file, $0.baseAddress?.advanced(by: written), bytes.count - written)
      }
      if count < 0, errno != EINTR { failure = errno } else { written += max(count, 0) }
    }
    if failure == nil, fsync(file) != 0 { failure = errno }
    if close(file) != 0, failure == nil { failure = errno }
    if failure == nil, rename(draft, path) != 0 { failure = errno }
    guard let failure else { return }
    unlink(draft)
    throw .system(path: path, errno: failure)
  }
}

extension AccountsFile.Identity {
  fileprivate init(_ status: stat) {
    device = UInt64(status.st_dev)
    number = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}

extension AccountsFile {
  /// Adds an account to the file.
  package func add(
    _ name: String, role: AccountRole, password: String?,
    cost: PasswordHash.Cost = .standard
  ) throws(AccountsFault) {
    guard Account.isName(name) else { throw .badName(name) }
    let hash = try password.map { text throws(AccountsFault) in try Self.hash(text, cost) }
    try update { accounts throws(AccountsFault) in
      guard !accounts.contains(where: { $0.name == name }) else { throw .exists(name) }
      accounts.append(Account(name: name, role: role, password: hash))
    }
  }

  package func remove(_ name: String) throws(AccountsFault) {
    try change(name) { accounts, place in accounts.remove(at: place) }
  }

  package func setRole(_ role: AccountRole, of name: String) throws(AccountsFault) {
    try change(name) { $0[$1].role = role }
  }

  package func setPassword(
    _ password: String, of name: String, cost: PasswordHash.Cost = .standard
  ) throws(AccountsFault) {
    let hash = try Self.hash(password, cost)
    try change(name) { $0[$1].password = hash }
  }

  /// Adds a token to an account.
  ///
  /// - Returns: the token, which cannot be read from the file later.
  package func addToken(_ label: String, to name: String) throws(AccountsFault) -> AccessToken {
    let token = AccessToken()
    try change(name) { $0[$1].tokens.append(token.stored(label: label)) }
    return token
  }

  package func removeToken(_ id: String, of name: String) throws(AccountsFault) {
    try update { accounts throws(AccountsFault) in
      guard let place = accounts.firstIndex(where: { $0.name == name }) else {
        throw .unknown(name)
      }
      guard accounts[place].tokens.contains(where: { $0.id == id }) else {
        throw .unknownToken(id)
      }
      accounts[place].tokens.removeAll { $0.id == id }
    }
  }

  private func change(
    _ name: String, _ body: (inout [Account], Int) -> Void
  ) throws(AccountsFault) {
    try update { accounts throws(AccountsFault) in
      guard let place = accounts.firstIndex(where: { $0.name == name }) else {
        throw .unknown(name)
      }
      body(&accounts, place)
    }
  }

  private static func hash(
    _ password: String, _ cost: PasswordHash.Cost
  ) throws(AccountsFault) -> PasswordHash {
    guard PasswordHash.lengths.contains(password.utf8.count) else {
      throw .badPassword(bytes: password.utf8.count)
    }
    return PasswordHash(of: password, cost: cost)
  }
}
#endif
