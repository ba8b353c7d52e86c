import Foundation
import OtaflashATT
import OtaflashGATT
import Synchronization

/// The board's end of a connection over a Unix socket. The thread of `SocketHub` reads the socket
/// and owns the descriptor, so that PDUs are recorded when they arrive, even if the board does not
/// serve the connection.
final class HostConnection: Link {
  /// The maximum number of PDUs that wait for the board; its receive window permits fewer.
  private static let queueMaximum = 4096

  private struct State {
    var isOpen = true
    /// The reason why the board no longer serves the connection.
    var loss: LinkLoss?
  }

  let number: Int
  let descriptor: Int32
  private let record: @Sendable ([UInt8]) -> Void
  private let inbox = Mailbox<[UInt8]>(capacity: HostConnection.queueMaximum)
  private let state = Mutex(State())

  /// - Parameter record: called with each PDU of the board.
  init(_ number: Int, descriptor: Int32, record: @escaping @Sendable ([UInt8]) -> Void) {
    self.number = number
    self.descriptor = descriptor
    self.record = record
  }

  var maximumPDUSize: Int { 672 }

  /// Whether the board serves the connection or will serve it.
  var isServed: Bool { state.withLock { $0.loss == nil } }

  // MARK: The board

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    record(pdu)
    let isSent = state.withLock { state in
      state.loss == nil && state.isOpen
        && Glibc.send(descriptor, pdu, pdu.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
          >= 0
    }
    guard isSent else {
      // A host that is stopped reads nothing.
      lose(.supervisionTimeout)
      throw .supervisionTimeout
    }
  }

  func receive() async throws(LinkLoss) -> [UInt8] {
    if isServed, let pdu = await inbox.next(), isServed { return pdu }
    throw state.withLock { $0.loss } ?? (Task.isCancelled ? .cancelled : .closedByPeer)
  }

  /// Ends the link for the host as well, unless the board lost the link before: then the host
  /// detects nothing.
  func close() {
    state.withLock { state in
      guard state.loss == nil else { return }
      state.loss = .closedLocally
      if state.isOpen { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
    inbox.finish()
  }

  /// Ends the link for the board only: the host detects nothing.
  func lose(_ loss: LinkLoss) {
    state.withLock { state in
      if state.loss == nil { state.loss = loss }
    }
    inbox.finish()
  }

  // MARK: The hub

  /// Passes a PDU from the host to the board.
  func deliver(_ pdu: [UInt8]) {
    guard isServed else { return }
    if !inbox.offer(pdu) { lose(.supervisionTimeout) }
  }

  /// Closes the descriptor, after the host or the board ended the connection.
  func hostLeft() {
    state.withLock { state in
      guard state.isOpen else { return }
      state.isOpen = false
      _ = Glibc.close(descriptor)
    }
    inbox.finish()
  }
}
