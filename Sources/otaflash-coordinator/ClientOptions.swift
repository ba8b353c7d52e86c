#if Sites
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashSiteHost
import OtaflashSites

/// The options of a command that sends requests to a coordinator.
struct ClientOptions: ParsableArguments, Sendable {
  private static let tokenMaximum = 4096

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The URL of the coordinator's page (default: http://127.0.0.1:8080).", valueName: "url"))
  var server = "http://127.0.0.1:8080"

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A file with an access token; only the owner of the file may read it.", valueName: "path"),
    completion: .file())
  var tokenFile: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The CA certificates that verify the server (PEM; default: the system's certificates).",
      valueName: "path"),
    completion: .file())
  var ca: String?

  func validate() throws {
    guard server.hasPrefix("https://") || server.hasPrefix("http://") else {
      throw ValidationError("'\(server)' is not a URL such as https://flash.example.com")
    }
    let isLocal = ["http://127.", "http://localhost", "http://[::1]"].contains {
      server.hasPrefix($0)
    }
    guard server.hasPrefix("https://") || isLocal else {
      throw ValidationError("a token is only sent over https://, or to this host")
    }
  }

  /// Creates a client with the token from the file.
  func client() throws(CommandFault) -> CoordinatorClient {
    let bytes: [UInt8]?
    do throws(SiteFileFault) {
      bytes = try SiteFile.read(tokenFile, atMost: Self.tokenMaximum, isSecret: true)
    } catch {
      throw .sites(.token(words: "\(error)"))
    }
    guard let bytes else { throw .sites(.token(words: "\(tokenFile) does not exist")) }
    let token = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
    return CoordinatorClient(
      server: server.hasSuffix("/") ? String(server.dropLast()) : server, token: token, ca: ca)
  }
}
#endif
