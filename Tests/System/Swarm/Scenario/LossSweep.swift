import OtaflashFirmware
import OtaflashUpdate

/// Every combination of lost PDUs in a window of four, both in the first transmission and in the
/// repetition, together with every combination of lost notifications about them.
public struct LossSweep: Sendable {
  /// The masks of four data PDUs and their four repetitions.
  public static let commandMasks: ClosedRange<UInt32> = 0...255
  /// The masks of the first four notifications after the loss.
  public static let notificationMasks: ClosedRange<UInt32> = 0...15

  private let scenario: Scenario

  /// - Parameter scenario: a scenario without faults, written without response.
  public init(_ scenario: Scenario) { self.scenario = scenario }

  /// Returns the violations if the window starts after the first `skipped` data PDUs.
  public func violations(commands: UInt32, notifications: UInt32, after skipped: Int) -> [Violation]
  {
    var lossy = scenario
    lossy.mode = .withoutResponse
    lossy.mustSucceed = true
    lossy.losses.commands = commands
    lossy.losses.commandsSkipped = skipped
    lossy.losses.notifications = notifications
    // The notification of the first window and one more notification arrive before the losses
    // start.
    lossy.losses.notificationsSkipped = 2
    return Judgement(of: lossy).violations
  }
}
