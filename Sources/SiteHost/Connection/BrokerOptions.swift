#if Sites
import ArgumentParser
import OtaflashBlueZ
import OtaflashDevices
import OtaflashNATS
import OtaflashSites

/// The options that specify the message broker.
package struct BrokerOptions: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The credentials file, which also contains the URLs of the servers.", valueName: "path"),
    completion: .file())
  package var credentials: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The URL of a server without TLS and keys, for tests, such as nats://127.0.0.1:4222; may be "
        + "repeated.",
      valueName: "url"))
  package var nats: [String] = []

  package init() {}

  package func validate() throws {
    guard nats.isEmpty != (credentials == nil) else {
      throw ValidationError("specify either --credentials or --nats")
    }
    if let stranger = nats.first(where: { !$0.hasPrefix("nats://") && !$0.hasPrefix("tls://") }) {
      throw ValidationError("'\(stranger)' is not a URL such as nats://127.0.0.1:4222")
    }
  }

  /// Reads the credentials; `nil` = the option is not given.
  package func read() throws(CommandFault) -> GatewayCredentials? {
    guard let credentials else { return nil }
    do throws(CredentialsFault) { return try GatewayCredentials(contentsOf: credentials) } catch {
      throw .sites(.credentials(error))
    }
  }

  /// The options of a connection.
  ///
  /// - Parameters:
  ///   - client: the name in the server's log.
  ///   - inbox: the prefix of reply subjects without credentials.
  package func options(
    _ credentials: GatewayCredentials?, client: String, inbox: String = "_INBOX"
  ) -> NATSOptions {
    credentials?.options(clientName: client)
      ?? NATSOptions(servers: nats, name: client, inboxPrefix: inbox)
  }
}

/// A connection to the message broker, which may be down at the start.
package enum Broker {
  private static let pause = Duration.seconds(2)

  /// Connects, and repeats this until a server accepts the connection or the task is cancelled.
  ///
  /// - Parameter notice: called once if no server can be reached.
  /// - Throws: a fault that another attempt would not fix; `.stopped` after a cancellation.
  package static func connect(
    _ options: NATSOptions, notice: @Sendable (String) -> Void
  ) async throws(CommandFault) -> NATSConnection {
    var isNoticed = false
    while true {
      do throws(NATSFault) {
        return try await NATSConnection(options, clock: EventLoopClock())
      } catch {
        guard !error.isPermanent, !Task.isCancelled else {
          throw Task.isCancelled ? .stopped : .sites(.broker(error))
        }
        if !isNoticed { notice("\(error); trying again every \(pause)") }
        isNoticed = true
        guard await EventLoopClock().pause(for: pause) else { throw .stopped }
      }
    }
  }
}
#endif
