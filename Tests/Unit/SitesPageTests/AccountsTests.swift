#if Sites
import Foundation
import OtaflashFleetSamples
import Testing

@testable import OtaflashSitesPage

@Suite struct AccountsTests {
  private static func inFolder(_ body: (AccountsFile, URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "acc-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") }
    }
    try body(AccountsFile(path: folder.appending(path: "accounts.json").path), folder)
  }

  @Test func theFileIsPrivateAndHasNoSecrets() throws {
    try Self.inFolder { file, folder in
      try file.add("anna", role: .op, password: "a long password", cost: .test)
      let token = try file.addToken("build", to: "anna")
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      let text = try String(contentsOfFile: file.path, encoding: .utf8)
      #expect(!text.contains("a long password"))
      let secret = try #require(token.text.split(separator: "_").last)
      #expect(!text.contains(secret))
      #expect(text.contains("$scrypt$ln="))
      let book = try AccountBook(file)
      #expect(book.account(with: token)?.name == "anna")
      #expect(book.account(with: AccessToken()) == nil)
      #expect(AccessToken(token.text) == token)
    }
  }

  @Test(arguments: [0o644, 0o640, 0o660, 0o604])
  func anOpenFileIsRefused(_ mode: Int) throws {
    try Self.inFolder { file, _ in
      try file.add("anna", role: .op, password: "a long password", cost: .test)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      let fault = #expect(throws: AccountsFault.self) { try file.read() }
      #expect("\(try #require(fault))".contains("chmod 600"))
    }
  }

  @Test func aLinkAFolderAndRubbishAreRefused() throws {
    try Self.inFolder { file, folder in
      #expect(throws: AccountsFault.missing(path: file.path)) { try file.read() }
      try file.add("anna", role: .op, password: nil)
      let link = folder.appending(path: "link").path
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: file.path)
      #expect(throws: AccountsFault.self) { try AccountsFile(path: link).read() }
      #expect(throws: AccountsFault.self) { try AccountsFile(path: folder.path).read() }
      for text in [
        "", "{", #"{"format":2,"accounts":[]}"#, #"{"accounts":[]}"#,
        #"{"format":1,"accounts":[{"name":"a b","role":"viewer","tokens":[]}]}"#,
        #"{"format":1,"accounts":[{"name":"a","role":"root","tokens":[]}]}"#,
        #"{"format":1,"accounts":[{"name":"a","role":"viewer","tokens":[],"password":"x"}]}"#,
        #"""
        {"format":1,"accounts":[{"name":"a","role":"viewer","tokens":[]},
        {"name":"a","role":"admin","tokens":[]}]}
        """#,
      ] {
        try Data(text.utf8).write(to: URL(filePath: file.path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        #expect(throws: AccountsFault.self, "\(text)") { try file.read() }
      }
    }
  }

  @Test func aBrokenFileKeepsThePreviousAccounts() throws {
    try Self.inFolder { file, _ in
      try file.add("anna", role: .op, password: nil)
      let clocks = TestClocks()
      let book = try AccountBook(file, environment: clocks.environment)
      try file.add("bo", role: .viewer, password: nil)
      clocks.advance(by: .seconds(1))
      #expect(book["bo"] != nil)
      try Data("{".utf8).write(to: URL(filePath: file.path))
      clocks.advance(by: .seconds(1))
      #expect(book["bo"] != nil)
      #expect(book.fault != nil)
    }
  }

  @Test func badNamesAndPasswordsAreRefused() throws {
    try Self.inFolder { file, _ in
      for name in ["", "a b", "ä", "a\n", "<b>", String(repeating: "a", count: 65), "a/b"] {
        #expect(throws: AccountsFault.badName(name)) {
          try file.add(name, role: .viewer, password: nil)
        }
      }
      #expect(throws: AccountsFault.badPassword(bytes: 5)) {
        try file.add("anna", role: .viewer, password: "short")
      }
      try file.add("anna", role: .viewer, password: nil)
      #expect(throws: AccountsFault.exists("anna")) {
        try file.add("anna", role: .admin, password: nil)
      }
      #expect(throws: AccountsFault.unknown("bo")) { try file.remove("bo") }
      #expect(throws: AccountsFault.unknownToken("x")) { try file.removeToken("x", of: "anna") }
    }
  }

  @Test func passwordsAndRolesAreChanged() throws {
    try Self.inFolder { file, _ in
      try file.add("anna", role: .viewer, password: "the first password", cost: .test)
      try file.setPassword("the second password", of: "anna", cost: .test)
      try file.setRole(.admin, of: "anna")
      let account = try #require(try file.read().first)
      #expect(account.role == .admin)
      #expect(account.password?.matches("the second password") == true)
      #expect(account.password?.matches("the first password") == false)
    }
  }

  @Test func passwordsAreSaltedAndChecked() throws {
    let (one, two) = (
      PasswordHash(of: "secret words", cost: .test), PasswordHash(of: "secret words", cost: .test)
    )
    #expect(one != two)
    #expect(one.matches("secret words") && two.matches("secret words"))
    #expect(!one.matches("secret word") && !one.matches("") && !one.matches("secret words "))
    #expect(PasswordHash(one.description) == one)
  }

  /// The cost in a file is limited, because it determines the memory.
  @Test(arguments: [
    "$scrypt$ln=30,r=8,p=3$00$00", "$scrypt$ln=15,r=800,p=3$", "$scrypt$ln=15,r=8,p=3$aa$bb",
    "$2b$x",
    "", "$scrypt$$$", "$scrypt$ln=15,r=8,p=1000000$00$00",
  ])
  func anInvalidHashIsRefused(_ text: String) {
    #expect(PasswordHash(text) == nil)
  }

  /// This test does not repeat the test vectors of RFC 7914, section 12, which test the library. It
  /// ensures that a stored hash of this version stays valid.
  @Test func aStoredHashStaysValid() throws {
    let stored = try #require(
      PasswordHash(
        "$scrypt$ln=4,r=8,p=1$000102030405060708090a0b0c0d0e0f$\(Self.known)"))
    #expect(stored.matches("correct horse battery"))
  }

  // Calculated with Python: hashlib.scrypt(b"correct horse battery", salt=bytes(range(16)), n=16,
  // r=8, p=1, dklen=32).hex()
  private static let known = "7281dbe8b97372439e3876c31d1e891adf1589a27fa782e04f84dc3091d64542"

  @Test func secretsAreComparedCompletely() {
    #expect(SecretBytes.areEqual([1, 2, 3], [1, 2, 3]))
    #expect(!SecretBytes.areEqual([1, 2, 3], [1, 2, 4]))
    #expect(!SecretBytes.areEqual([1, 2, 3], [0, 2, 3]))
    #expect(!SecretBytes.areEqual([1, 2, 3], [1, 2]))
    #expect(SecretBytes.random(32) != SecretBytes.random(32))
  }
}
#endif
