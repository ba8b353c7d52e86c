#if Sites
import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOSSL
import OtaflashConsole
import OtaflashDevices
import OtaflashSiteHost

/// A client of the API of a coordinator.
struct CoordinatorClient: Sendable {
  private static let timeLimit = TimeAmount.seconds(60)
  private static let answerMaximum = 64 << 20

  let server: String
  let token: String
  /// The path of a file with trusted CA certificates; `nil` = the certificates of the system.
  let ca: String?

  /// A file of a submitted campaign.
  struct File: Sendable {
    let name: String
    let bytes: [UInt8]
  }

  /// The body of an error response.
  private struct Problem: Decodable {
    let words: String?
    let details: [String]?
  }

  func get<Answer: Decodable & Sendable>(_ path: String) async throws(CommandFault) -> Answer {
    try await send(request(path))
  }

  func post<Answer: Decodable & Sendable>(
    _ path: String, _ body: some Encodable
  ) async throws(CommandFault) -> Answer {
    var request = request(path)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/json")
    do { request.body = .bytes(Array(try JSONEncoder().encode(body))) } catch {
      preconditionFailure("a request cannot be encoded: \(error)")
    }
    return try await send(request)
  }

  /// Submits a campaign with its files.
  func submit<Answer: Decodable & Sendable>(
    _ campaign: File, _ files: [File]
  ) async throws(CommandFault) -> Answer {
    let boundary = "otaflash-" + String(UInt64.random(in: .min ... .max), radix: 36)
    var body: [UInt8] = []
    for (field, file) in [("campaign", campaign)] + files.map({ ("files", $0) }) {
      // The encoding of browsers (WHATWG HTML, "multipart form data"), which the parser expects.
      let name = file.name.replacing("\"", with: "%22").replacing("\r", with: "%0D")
        .replacing("\n", with: "%0A")
      body += Array(
        """
        --\(boundary)\r
        Content-Disposition: form-data; name="\(field)"; filename="\(name)"\r
        Content-Type: application/octet-stream\r
        \r

        """.utf8)
      body += file.bytes + Array("\r\n".utf8)
    }
    body += Array("--\(boundary)--\r\n".utf8)
    var request = request("/runs")
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "multipart/form-data; boundary=\(boundary)")
    request.body = .bytes(body)
    return try await send(request)
  }

  private func request(_ path: String) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: server + "/api/v1" + path)
    request.headers.add(name: "Authorization", value: "Bearer \(token)")
    request.headers.add(name: "User-Agent", value: "otaflash-coordinator/\(Release.version)")
    return request
  }

  private func send<Answer: Decodable & Sendable>(
    _ request: HTTPClientRequest
  ) async throws(CommandFault) -> Answer {
    let bytes: [UInt8]
    let status: UInt
    do {
      (status, bytes) = try await perform(request)
    } catch {
      throw .sites(.noAnswer(words: "\(server) does not respond: \(error)"))
    }
    do {
      guard (200..<300).contains(status) else {
        let problem = try JSONDecoder().decode(Problem.self, from: Data(bytes))
        let words = ([problem.words].compactMap(\.self) + (problem.details ?? []))
          .joined(separator: "; ")
        throw CommandFault.sites(.refused(words: words))
      }
      return try JSONDecoder().decode(Answer.self, from: Data(bytes))
    } catch let fault as CommandFault {
      throw fault
    } catch {
      throw .sites(
        .noAnswer(words: "\(server) returned status \(status), but no response of a coordinator"))
    }
  }

  private func perform(
    _ request: HTTPClientRequest
  ) async throws -> (status: UInt, bytes: [UInt8]) {
    var configuration = HTTPClient.Configuration()
    // With a redirection, the token would be sent to another server.
    configuration.redirectConfiguration = .disallow
    if let ca {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = .file(ca)
      configuration.tlsConfiguration = tls
    }
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    do {
      let response = try await client.execute(request, timeout: Self.timeLimit)
      let body = try await response.body.collect(upTo: Self.answerMaximum)
      try await client.shutdown()
      return (response.status.code, Array(body.readableBytesView))
    } catch {
      try await client.shutdown()
      throw error
    }
  }
}
#endif
