#if Sites
import Foundation
import OtaflashNATS
import Synchronization

/// A server of `tools/nats-servers` as a process on loopback, with a temporary store.
package final class NATSServer: Sendable {
  package enum Version: String, Sendable, CaseIterable, CustomStringConvertible {
    case debian = "2.9.10"
    case newer = "2.14.0"

    package var description: String { rawValue }
    var program: URL {
      URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: ".build/nats-servers/\(rawValue)/nats-server")
    }
    var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program.path) }
  }

  package static let areInstalled = Version.allCases.allSatisfy(\.isInstalled)
  package static let note = "run tools/nats-servers first: it downloads the servers of these tests"

  package struct Failure: Error { let log: String }

  private struct State {
    var process: Process?
    var port = -1
    var leafPort: Int?
  }
  private let version: Version
  package let folder: URL
  private let configuration: String
  /// Settings of JetStream.
  private let storage: String
  private let state = Mutex(State())

  /// Starts a server. `configuration` is appended to its configuration file, which may include
  /// `files`.
  package init(
    _ version: Version, _ configuration: String = "", _ files: [String: String] = [:],
    jetStream: String = ""
  ) async throws {
    self.version = version
    folder = FileManager.default.temporaryDirectory.appending(path: "nats-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.configuration = configuration
    storage = jetStream
    for (name, text) in files { try write(name, text) }
    try await start()
  }

  package func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: folder.appending(path: name))
  }

  deinit {
    kill()
    do { try FileManager.default.removeItem(at: folder) } catch { print("it stays: \(error)") }
  }

  /// The port for leaf nodes, if the configuration has one.
  package var leafPort: Int? { state.withLock { $0.leafPort } }

  package var port: Int { state.withLock { $0.port } }

  /// Returns whether a version accepts a configuration file, and the messages of the server.
  package static func check(
    _ path: String, by version: Version
  ) throws -> (isAccepted: Bool, log: String) {
    let process = Process()
    process.executableURL = version.program
    process.arguments = ["-t", "--config", path]
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let log = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus == 0, log)
  }

  /// Reads the configuration again. The server applies it some time after this call.
  package func reload() { signal(SIGHUP) }

  package var url: String { "nats://localhost:\(state.withLock { $0.port })" }

  /// Starts the process, after the first start on the same port, and waits until it accepts
  /// connections.
  package func start() async throws {
    let port = state.withLock { $0.port }
    let text = """
      host: 127.0.0.1
      port: \(port)
      jetstream { store_dir: "\(folder.path)/store", \(storage) }
      \(configuration)
      """
    let file = folder.appending(path: "server.conf")
    try Data(text.utf8).write(to: file)
    let process = Process()
    process.executableURL = version.program
    process.arguments = ["--config", file.path]
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = FileHandle.nullDevice
    let (chunks, continuation) = AsyncStream.makeStream(of: String.self)
    pipe.fileHandleForReading.readabilityHandler = { handle in
      let data = handle.availableData
      guard !data.isEmpty else {
        handle.readabilityHandler = nil
        continuation.finish()
        return
      }
      continuation.yield(String(decoding: data, as: UTF8.self))
    }
    try process.run()
    state.withLock { $0.process = process }
    var log = ""
    for await chunk in chunks {
      log += chunk
      guard log.contains("Server is ready") else { continue }
      guard let found = log.firstMatch(of: /client connections on [^:]*:(\d+)/),
        let port = Int(found.1)
      else { throw Failure(log: log) }
      let leaf = log.firstMatch(of: /leafnode connections on [^:]*:(\d+)/).flatMap { Int($0.1) }
      state.withLock { ($0.port, $0.leafPort) = (port, leaf) }
      return
    }
    throw Failure(log: log)
  }

  /// Ends the process without a shutdown, as in a crash.
  package func kill() { signal(SIGKILL, andWait: true) }
  /// Stops the process, and returns when all its threads have stopped.
  package func pause() throws {
    signal(SIGSTOP)
    guard let number = state.withLock({ $0.process?.processIdentifier }) else {
      throw Failure(log: "the server is not running")
    }
    let threads = "/proc/\(number)/task"
    while true {
      let states = try FileManager.default.contentsOfDirectory(atPath: threads).map { thread in
        try String(contentsOfFile: "\(threads)/\(thread)/stat", encoding: .utf8)
          .split(separator: ") ").last?.first
      }
      if states.allSatisfy({ $0 == "T" }) { return }
    }
  }
  package func resume() { signal(SIGCONT) }

  private func signal(_ number: Int32, andWait: Bool = false) {
    state.withLock { state in
      guard let process = state.process, process.isRunning else { return }
      _ = Foundation.kill(process.processIdentifier, number)
      if andWait {
        process.waitUntilExit()
        state.process = nil
      }
    }
  }

  package func options(
    callLimit: Duration = .seconds(10), key: NKey? = nil, inboxPrefix: String = "_INBOX"
  ) -> NATSOptions {
    NATSOptions(
      servers: [url], name: "test", key: key, inboxPrefix: inboxPrefix, callLimit: callLimit,
      reconnectWait: .milliseconds(20))
  }

  package func connect(
    callLimit: Duration = .seconds(10), key: NKey? = nil, inboxPrefix: String = "_INBOX"
  ) async throws -> NATSConnection {
    try await NATSConnection(
      options(callLimit: callLimit, key: key, inboxPrefix: inboxPrefix), clock: ContinuousClock())
  }

  package func jetStream() async throws -> JetStream { try JetStream(try await connect()) }
}
#endif
