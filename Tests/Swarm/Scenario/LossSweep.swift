import OtaflashFirmware
import OtaflashUpdate

/// Every way in which the PDUs of a window of four can be lost, the first time and when they are sent
/// again, together with the notifications that tell of it.
public struct LossSweep: Sendable {
  /// Data PDUs: four, and their four repetitions.
  public static let commandMasks: ClosedRange<UInt32> = 0...255
  /// The first four notifications after the loss.
  public static let notificationMasks: ClosedRange<UInt32> = 0...15

  private let scenario: Scenario

  /// - Parameter scenario: without faults; written without response.
  public init(_ scenario: Scenario) { self.scenario = scenario }

  /// What must not have happened when the window begins after `skipped` data PDUs.
  public func violations(commands: UInt32, notifications: UInt32, after skipped: Int) -> [Violation]
  {
    var lossy = scenario
    lossy.mode = .withoutResponse
    lossy.mustSucceed = true
    lossy.losses.commands = commands
    lossy.losses.commandsSkipped = skipped
    lossy.losses.notifications = notifications
    // The grant of the first window, and one more, come before what is lost.
    lossy.losses.notificationsSkipped = 2
    return Judgement(of: lossy).violations
  }
}
