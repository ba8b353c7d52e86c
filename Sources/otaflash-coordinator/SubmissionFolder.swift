#if Sites
import Crypto
import Glibc
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetFiles
import OtaflashFleetHost
import OtaflashSites
import OtaflashSitesPage

/// The campaigns that users submitted, each with its files in a separate folder. A campaign may
/// refer only to these files: otherwise a user could read other files of this host.
struct SubmissionFolder: Sendable {
  private static let nameLength = 32

  let path: String

  /// Stores a submission. An equal submission has the same folder, so that its run is continued.
  ///
  /// - Returns: the path of the campaign file.
  func store(_ submission: CampaignSubmission) throws(SitesFault) -> String {
    try check(submission)
    let folder = "\(path)/\(Self.digest(of: submission).prefix(Self.nameLength))"
    for folder in [path, folder] {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        throw .unavailable(words: "\(folder) cannot be created: \(SystemError.text(errno))")
      }
    }
    let name = "\(folder)/\(submission.name)"
    do throws(SiteFileFault) {
      for file in submission.files {
        try SiteFile.replace("\(folder)/\(file.name)", with: file.bytes, mode: 0o600)
      }
      try SiteFile.replace(name, with: Array(submission.text.utf8), mode: 0o600)
    } catch {
      throw .unavailable(words: "\(error)")
    }
    return name
  }

  private static func digest(of submission: CampaignSubmission) -> String {
    var hash = SHA256()
    let files = submission.files.sorted { $0.name < $1.name }.map { ($0.name, $0.bytes) }
    for (name, bytes) in [(submission.name, Array(submission.text.utf8))] + files {
      hash.update(data: Array("\(name)/\(bytes.count)/".utf8))
      hash.update(data: bytes)
    }
    return Text.hex(Array(hash.finalize()))
  }

  // MARK: Names

  private func check(_ submission: CampaignSubmission) throws(SitesFault) {
    let names = [submission.name] + submission.files.map(\.name)
    for name in names where !Self.isPlain(name) {
      throw .refused(words: "'\(name)' is not the name of a file without a folder")
    }
    guard Set(names).count == names.count else {
      throw .refused(words: "two files of the campaign have the same name")
    }
    let present = Set(submission.files.map(\.name))
    for name in try references(of: submission) where !present.contains(name) {
      throw .refused(words: "the file '\(name)' of the campaign is missing from the submission")
    }
  }

  /// Returns the names of the files to which the campaign refers.
  private func references(of submission: CampaignSubmission) throws(SitesFault) -> Set<String> {
    do {
      return try CampaignReferences.names(in: Array(submission.text.utf8)) { name in
        submission.files.first { $0.name == name }?.bytes
      }
    } catch let fault as CampaignFileFault {
      throw .invalidCampaign(["line \(fault.place.line): \(fault.words)"])
    } catch {
      throw .invalidCampaign(["\(error)"])
    }
  }

  private static func isPlain(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count) && !name.hasPrefix(".") && !name.hasSuffix(".new")
      && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
  }
}
#endif
