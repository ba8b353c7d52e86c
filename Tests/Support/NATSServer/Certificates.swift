#if Sites
import Foundation

/// Certificates of a new authority, by openssl: `hub.pem` of a server with the names `localhost` and
/// `hub.test`, signed by `ca.pem`; and `other.pem`, another authority. The caller removes the folder.
package struct Certificates {
  package struct Failure: Error {}

  package let folder: URL

  package init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try openssl(
      "req -x509 -newkey ed25519 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem")
    try openssl(
      "req -x509 -newkey ed25519 -nodes -days 2 -subj /CN=other -keyout other.key -out other.pem")
    try openssl(
      "req -newkey ed25519 -nodes -subj /CN=hub -addext subjectAltName=DNS:localhost,DNS:hub.test"
        + " -keyout hub.key -out hub.csr")
    try openssl(
      "x509 -req -days 2 -in hub.csr -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy"
        + " -out hub.pem")
  }

  package func path(_ name: String) -> String { folder.appending(path: name).path }

  private func openssl(_ words: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = words.split(separator: " ").map(String.init)
    process.currentDirectoryURL = folder
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure() }
  }
}
#endif
