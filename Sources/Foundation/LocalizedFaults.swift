import Foundation
import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate

/// A fault whose `localizedDescription` is the library's summary of the fault, instead of "The
/// operation could not be completed".
public protocol LocalizedFault: ExplainedFault, LocalizedError {}

extension LocalizedFault {
  /// The summary as a sentence.
  public var errorDescription: String? { sentence(summary) }

  /// The explanation.
  public var failureReason: String? { explanation }

  /// The remedy as a sentence; `nil` if no remedy is known.
  public var recoverySuggestion: String? { remedy.map { "\($0)" } }
}

extension ConnectFault: LocalizedFault {}
extension SecurityFault: LocalizedFault {}
extension ScanFault: LocalizedFault {}
extension GATTFault: LocalizedFault {}
extension PeripheralFault: LocalizedFault {}
extension QueueFault: LocalizedFault {}
extension UpdateFault: LocalizedFault {}

// Faults of files have no explanation or remedy.
extension FirmwareFault: LocalizedError {
  /// The description as a sentence.
  public var errorDescription: String? { sentence(description) }
}
extension ProofFault: LocalizedError {
  /// The description as a sentence.
  public var errorDescription: String? { sentence(description) }
}

private func sentence(_ text: String) -> String {
  text.prefix(1).uppercased() + text.dropFirst() + "."
}
