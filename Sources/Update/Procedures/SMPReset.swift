import OtaflashATT
import OtaflashGATT
import OtaflashWire

/// Restarts a device over SMP.
public struct SMPReset: Sendable {
  /// Whether to restart the device even if the application reports that it is busy.
  public let isForced: Bool
  /// Whether to start the bootloader's recovery mode instead of the application (Zephyr, retained
  /// boot mode).
  public let toBootloader: Bool

  /// Creates a restart.
  public init(isForced: Bool = false, toBootloader: Bool = false) {
    self.isForced = isForced
    self.toBootloader = toBootloader
  }

  /// The restart as a command for a peripheral's queue. After the device has agreed, the command
  /// waits until the link has ended, but no longer than the default `UpdateOptions.rebootLimit`. If
  /// the link is lost before the response, the command also succeeds.
  public var command: Command<PeripheralTurn, Void, UpdateFault> {
    Command("reset") { (turn) async throws(UpdateFault) in
      defer { turn.disconnect() }
      let channel = try await SMPChannel(openedIn: turn)
      let request = SMPOS.Reset(
        isForced: isForced ? true : nil, bootMode: toBootloader ? SMPOS.Reset.bootloader : nil)
      do throws(UpdateFault) {
        _ = try await channel.perform(request, .activate)
      } catch .gatt(.activate, .linkLost(let loss)) where loss != .cancelled {
        return
      }
      await turn.waitUntilLost(within: UpdateOptions().rebootLimit)
    }
  }

  /// Restarts the device over a new link.
  public func run(on dialer: Dialer, clock: any LinkClock) async throws(UpdateFault) {
    try await command.run(on: dialer, clock: clock)
  }
}
