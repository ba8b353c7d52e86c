import OtaflashATT
import OtaflashFleet
import OtaflashNumerals

/// The evidence that a device runs its image, with the strongest first.
package enum VerificationGrade: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// The device reported the hash or CRC32 of the image after its restart, or ran the image before
  /// any byte was sent.
  case readBack
  /// The application reports the image's version.
  case version
  /// The bootloader accepted the image, and starts no other image; or the application has changed.
  case bootloader
  /// No evidence was obtained.
  case none

  package static func < (left: VerificationGrade, right: VerificationGrade) -> Bool {
    left.rawValue < right.rawValue
  }

  package var name: String {
    switch self {
    case .readBack: "read-back"
    case .version: "version"
    case .bootloader: "bootloader"
    case .none: "none"
    }
  }

  /// Two or three words for a table.
  package var label: String {
    switch self {
    case .readBack: "read-back"
    case .version: "reported version"
    case .bootloader: "bootloader's report"
    case .none: "not verified"
    }
  }

  /// Returns the words after "verified", for the given number of devices.
  func words(_ count: Int) -> String {
    switch self {
    case .readBack: "by read-back"
    case .version: "by the version that \(count == 1 ? "it reports" : "they report")"
    case .bootloader: "by \(count == 1 ? "its" : "their") bootloader's report"
    case .none: "by nothing"
    }
  }
}

extension DeviceReport {
  /// The grade; `nil` = the device is not known to run its image.
  package var grade: VerificationGrade? {
    switch proof {
    case "read-back", "looked-at", "was-running": .readBack
    case "version": .version
    case "boot-loader", "changed": .bootloader
    case .some: VerificationGrade.none
    case nil: nil
    }
  }
}

/// The devices by verification grade.
package struct GradeCounts: Hashable, Sendable {
  private var counts: [VerificationGrade: Int] = [:]

  init(_ devices: some Sequence<DeviceReport>) {
    for grade in devices.lazy.compactMap(\.grade) { counts[grade, default: 0] += 1 }
  }

  package subscript(grade: VerificationGrade) -> Int { counts[grade] ?? 0 }

  /// The weakest grade; `nil` = no device runs its image.
  package var weakest: VerificationGrade? { counts.keys.max() }

  /// The counts as text, such as `33 read-back, 3 bootloader's report`; `nil` = no device runs its
  /// image.
  package var words: String? {
    let grades = counts.keys.sorted()
    guard !grades.isEmpty else { return nil }
    return grades.map { "\(Numerals.grouped(self[$0])) \($0.label)" }.joined(separator: ", ")
  }

  /// The end of a sentence, such as `, verified by read-back`, or `: 33 verified by read-back, 3 by
  /// their bootloader's report`.
  var clause: String {
    let grades = counts.keys.sorted()
    guard let first = grades.first else { return "" }
    guard grades.count > 1 else {
      return first == .none ? ", not verified" : ", verified \(first.words(self[first]))"
    }
    let parts = grades.map { grade in
      let number = Numerals.grouped(self[grade])
      guard grade != .none else { return "\(number) not verified" }
      return "\(number) \(grade == first ? "verified " : "")\(grade.words(self[grade]))"
    }
    return ": " + parts.joined(separator: ", ")
  }
}
