#if Sites
import Synchronization

/// Assigns the messages that arrive on a connection to the tasks that wait for them. The connection
/// has one subscription, which is never removed: in libnats before 3.6.1, removing a subscription
/// while a message arrives is a use after free. A reply is identified by the number at the end of
/// its subject. Jobs and watched entries arrive with their own subject, and are identified by
/// stream and consumer.
final class Switchboard: Sendable {
  enum Phase: Sendable {
    case connected
    /// libnats tries to reconnect.
    case disconnected
    /// libnats no longer tries to reconnect, for example after the server refused the key twice.
    case ended
    case closed
  }

  /// The action that the thread must perform after it has delivered a message.
  enum Disposition: Sendable {
    case done
    /// No task waits for the job. The thread returns the job to the server, so that another worker
    /// receives the job before the acknowledgement limit expires.
    case returnJob
  }

  private struct Wait {
    let mailbox: Mailbox
    let subject: String
  }

  private struct State {
    var phase = Phase.ended
    var lastNumber: UInt64 = 0
    var waits: [UInt64: Wait] = [:]
    /// The pull requests that wait for a job, the oldest first.
    var pulls: [ConsumerName: [UInt64]] = [:]
    var watches: [ConsumerName: Mailbox] = [:]
    var connectionWaits: [UInt64: Mailbox] = [:]

    mutating func number() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }
  private let state = Mutex(State())
  /// The first tokens of all reply subjects of the connection.
  let inbox: String

  init(inboxPrefix: String) {
    inbox = "\(inboxPrefix).\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }

  // MARK: - The connection

  var phase: Phase { state.withLock { $0.phase } }

  func connected() {
    let waiting = state.withLock { state -> [Mailbox] in
      guard state.phase != .closed else { return [] }
      state.phase = .connected
      return Array(state.connectionWaits.values)
    }
    let message = NATSMessage(subject: "")
    for mailbox in waiting { _ = mailbox.deliver(message) }
  }

  /// Ends all waits for replies and all watches, because the server sends no reply after the loss
  /// of the connection. Waits for the connection continue while libnats tries to reconnect.
  func disconnected(_ phase: Phase) {
    let (waiting, forConnection) = state.withLock { state -> ([Mailbox], [Mailbox]) in
      if state.phase != .closed { state.phase = phase }
      return (
        state.waits.values.map(\.mailbox) + state.watches.values,
        phase == .disconnected ? [] : Array(state.connectionWaits.values)
      )
    }
    for mailbox in waiting { mailbox.end(phase == .closed ? .closed : .connectionLost) }
    for mailbox in forConnection { mailbox.end(phase == .closed ? .closed : .notConnected) }
  }

  /// Waits at most `limit` until the connection is restored.
  func connection(within limit: Duration, on clock: any Clock<Duration>) async throws(NATSFault) {
    let mailbox = Mailbox(capacity: 1)
    let number = state.withLock { state -> UInt64? in
      guard state.phase == .disconnected else { return nil }
      let number = state.number()
      state.connectionWaits[number] = mailbox
      return number
    }
    guard let number else { return }
    defer { state.withLock { _ = $0.connectionWaits.removeValue(forKey: number) } }
    do throws(NATSFault) {
      _ = try await mailbox.next(within: limit, on: clock)
    } catch {
      switch error {
      case .timedOut: throw .notConnected
      case .cancelled: throw .cancelled(isSent: false)
      default: throw error
      }
    }
  }

  // MARK: - Waits

  /// Registers a wait for the reply to a request. Returns the number at the end of the reply
  /// subject.
  func open(_ mailbox: Mailbox, for subject: String, pulling name: ConsumerName? = nil) -> UInt64 {
    state.withLock { state in
      let number = state.number()
      state.waits[number] = Wait(mailbox: mailbox, subject: subject)
      if let name { state.pulls[name, default: []].append(number) }
      return number
    }
  }

  func close(_ number: UInt64, pulling name: ConsumerName? = nil) {
    state.withLock { state in
      state.waits[number] = nil
      guard let name else { return }
      state.pulls[name]?.removeAll { $0 == number }
      if state.pulls[name]?.isEmpty == true { state.pulls[name] = nil }
    }
  }

  func openWatch(_ name: ConsumerName, _ mailbox: Mailbox) {
    state.withLock { $0.watches[name] = mailbox }
  }

  func closeWatch(_ name: ConsumerName) {
    state.withLock { _ = $0.watches.removeValue(forKey: name) }
  }

  func replySubject(_ number: UInt64) -> String { "\(inbox).\(number)" }

  // MARK: - Arrivals, on a thread of libnats

  func receive(_ message: NATSMessage) -> Disposition {
    if message.subject.hasPrefix(inbox + ".") {
      let wait = UInt64(message.subject.dropFirst(inbox.count + 1)).flatMap { number in
        state.withLock { $0.waits[number] }
      }
      _ = wait?.mailbox.deliver(message)
      return .done
    }
    guard let facts = message.reply.flatMap({ DeliveryFacts(subject: $0) }) else { return .done }
    if facts.name.consumer.hasPrefix(Self.watchPrefix) {
      _ = state.withLock { $0.watches[facts.name] }?.deliver(message)
      return .done
    }
    let isTaken = state.withLock { state in
      while let number = state.pulls[facts.name]?.first {
        state.pulls[facts.name]?.removeFirst()
        if state.waits[number]?.mailbox.deliver(message) == true { return true }
      }
      return false
    }
    return isTaken ? .done : .returnJob
  }

  /// The prefix of the names of watch consumers.
  static let watchPrefix = "watch-"

  /// Ends the waits whose subject a permission violation contains, because the server does not
  /// reply to such requests. The text is `permissions violation for publish to "SUBJECT"`.
  func refused(_ text: String) {
    let waits = state.withLock { Array($0.waits.values) }
    for wait in waits where text.lowercased().contains("\"\(wait.subject.lowercased())\"") {
      wait.mailbox.end(.notPermitted(wait.subject))
    }
  }
}
#endif
