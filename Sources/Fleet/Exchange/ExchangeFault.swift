package enum ExchangeFault: Error, Hashable, Sendable {
  /// The claim expired, and another worker may update the device. The worker must not send anything
  /// to the device.
  case claimLost(UpdateJob.ID)
  /// Another job of the device is open.
  case deviceTaken(by: UpdateJob.ID)
  /// The coordinator has ended and records no more facts.
  case notRecorded
  /// The exchange did not answer: the call took effect or not, and may be repeated.
  case unavailable(words: String)
  /// The storage of the jobs failed.
  case storage(StorageFault)
}

/// The reason why durable data could not be written or read.
public struct StorageFault: Error, Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case full, readOnly, locked, newerVersion, damaged
    /// The file is readable, but its content is invalid: another program changed it.
    case unsound
    case system
  }

  public let kind: Kind
  /// The fault, as a clause.
  public let words: String

  public init(_ kind: Kind, _ words: String) {
    self.kind = kind
    self.words = words
  }
}

extension StorageFault: CustomStringConvertible {
  public var description: String { words }
}

extension ExchangeFault: CustomStringConvertible {
  /// The fault, as a clause.
  package var description: String {
    switch self {
    case .claimLost(let job): "the claim on \(job.device) was lost"
    case .deviceTaken(let job): "attempt \(job.attempt) on \(job.device) has not ended"
    case .notRecorded: "the coordinator has ended"
    case .unavailable(let words): words
    case .storage(let fault): fault.words
    }
  }
}
