#if Fleet
/// A place in a text file; both count from 1.
package struct FilePlace: Hashable, Comparable, Sendable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static let start = FilePlace(line: 1, column: 1)

  package static func < (left: FilePlace, right: FilePlace) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

/// Why a file of a campaign was not taken: where, and what is wrong there.
package struct CampaignFileFault: Error, Hashable, Sendable {
  /// Which of a campaign's files.
  package enum File: Hashable, Sendable {
    case campaign
    /// The list of devices that the campaign names, by this path.
    case devices(path: String)
  }

  package let file: File
  package let place: FilePlace
  /// A clause.
  package let words: String
  /// The other mistakes of the file, in the order of their places.
  package var further: [CampaignFileFault] = []
  /// Mistakes beyond those.
  package var omitted = 0

  package init(_ file: File = .campaign, at place: FilePlace, _ words: String) {
    self.file = file
    self.place = place
    self.words = words
  }
}

extension CampaignFileFault: CustomStringConvertible {
  package var description: String { "line \(place.line), column \(place.column): \(words)" }
}
#endif
