#if Fleet
/// A position in a text file; line and column count from 1.
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

/// A mistake in a file of a campaign, with its position.
package struct CampaignFileFault: Error, Hashable, Sendable {
  /// A file of a campaign.
  package enum File: Hashable, Sendable {
    case campaign
    /// The device table of the campaign.
    case devices(path: String)
  }

  package let file: File
  package let place: FilePlace
  /// The message, as a clause.
  package let words: String
  /// The other mistakes in the file, sorted by position.
  package var further: [CampaignFileFault] = []
  /// The number of further mistakes that are counted but not listed.
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
