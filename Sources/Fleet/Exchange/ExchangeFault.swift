package enum ExchangeFault: Error, Hashable, Sendable {
  /// The claim expired, and another worker may update the device. The worker must not send anything
  /// to the device.
  case claimLost(UpdateJob.ID)
  /// Another job of the device is open.
  case deviceTaken(by: UpdateJob.ID)
  /// The coordinator has ended and records no more facts.
  case notRecorded
  /// The exchange did not answer. It is unknown whether the call took effect; the call may be
  /// repeated.
  case unavailable(words: String)
  /// The storage of the jobs failed.
  case storage(StorageFault)
}

/// The reason why durable data could not be written or read.
public struct StorageFault: Error, Hashable, Sendable {
  /// The kind of a fault.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The disk is full.
    case full
    /// The file or its folder cannot be written.
    case readOnly
    /// Another process has locked the file.
    case locked
    /// A newer version of otaflash wrote the file.
    case newerVersion
    /// The file is damaged.
    case damaged
    /// The file is readable, but its content is invalid: another program changed it.
    case unsound
    /// Another error of the system.
    case system
  }

  /// The kind of the fault.
  public let kind: Kind
  /// The fault, as a clause.
  public let words: String

  /// Creates a fault.
  public init(_ kind: Kind, _ words: String) {
    self.kind = kind
    self.words = words
  }
}

extension StorageFault: CustomStringConvertible {
  /// The fault, as a clause.
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
