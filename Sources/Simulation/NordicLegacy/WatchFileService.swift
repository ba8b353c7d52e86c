import OtaflashATT
import OtaflashGATT

/// The file service of InfiniTime in one boot: attributes, times and notifications. Safe to use
/// from any task.
final class WatchFileService: DFUCompanion {
  private struct State: Sendable {
    var server: WatchFileServer
    var hasCrashed = false
    var output: (server: GATTServer, handle: AttributeHandle)?
  }

  private static let service = BluetoothUUID(0xFEBB)
  private static let version: BluetoothUUID = "adaf0100-4669-6c65-5472-616e73666572"
  private static let transfer: BluetoothUUID = "adaf0200-4669-6c65-5472-616e73666572"
  private static let versionNumber: [UInt8] = [4, 0]
  /// The time after which the handler of every request continues.
  private static let wakeTime = Duration.milliseconds(10)
  /// The time after each entry of a directory.
  private static let entryTime = Duration.milliseconds(100)
  /// The erase of a sector of the external flash, and the time to program it.
  private static let eraseTime = Duration.milliseconds(45)
  private static let programTimePerByte = Duration.microseconds(3)

  private let parts: BoardParts
  private let isDisabled: Bool
  private let state: Shared<State>

  init(_ server: WatchFileServer, isDisabled: Bool, with parts: BoardParts) {
    (self.parts, self.isDisabled) = (parts, isDisabled)
    state = Shared(State(server: server))
  }

  var attributes: LocalService {
    LocalService(
      Self.service,
      characteristics: [
        LocalCharacteristic(
          Self.version, properties: .read,
          value: .computed { [isDisabled] _ in
            isDisabled ? .failure(.insufficientAuthorization) : .success(Self.versionNumber)
          }),
        LocalCharacteristic(
          Self.transfer, properties: [.read, .write, .notify],
          value: .asynchronous(
            read: { [isDisabled] _ in
              isDisabled ? .failure(.insufficientAuthorization) : .success([])
            },
            // The service contains the server, which contains the attributes.
            write: { [weak self] bytes, context in
              guard let self else { return .unlikelyError }
              return await received(bytes, limit: context.mtu.bytes - 3)
            })),
      ])
  }

  func attach(to server: GATTServer, _ table: AttributeTable) {
    let handle = table.handle(of: Self.transfer)
    state.withLock { $0.output = (server, handle) }
  }

  var ending: BootEnding? { state.withLock { $0.hasCrashed } ? .reset : nil }

  /// Handles a request. As on the watch, the answers are sent before the response to the write, and
  /// even if the host has not enabled notifications.
  private func received(_ bytes: [UInt8], limit: Int) async -> ATTErrorCode? {
    if isDisabled { return .insufficientAuthorization }
    guard await parts.clock.pause(for: Self.wakeTime) else { return .unlikelyError }
    // The watch reads only the first buffer of a value that arrived in parts.
    let reaction =
      bytes.count <= limit
      ? state.withLock { $0.server.received(bytes, limit: limit) } : .crash
    if let refusal = reaction.refusal { return refusal }
    guard !reaction.crashes, await perform(reaction.operations) else {
      state.withLock { $0.hasCrashed = true }
      parts.wake()
      _ = await parts.clock.pause(for: GATTServer.handlerTimeout)
      return .unlikelyError
    }
    for (index, answer) in reaction.answers.enumerated() {
      if index > 0, await !parts.clock.pause(for: Self.entryTime) { break }
      state.withLock { state in
        _ = state.output.map { $0.server.notifyUnasked($0.handle, answer) }
      }
    }
    return nil
  }

  /// Performs operations of the file system, also if the host disconnects meanwhile. Returns
  /// `false` if the flash forbids an operation.
  private func perform(_ operations: [FlashOperation]) async -> Bool {
    for operation in operations {
      let time =
        switch operation {
        case .erase: Self.eraseTime
        case .write(let bytes, _): Self.programTimePerByte * bytes.count
        }
      _ = await parts.clock.pause(for: time)
      do throws(FlashFault) { try parts.flash.perform(operation) } catch {
        parts.note(error)
        return false
      }
    }
    return true
  }
}
