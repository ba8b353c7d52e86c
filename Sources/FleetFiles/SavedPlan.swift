#if Fleet
import FoundationEssentials
import OtaflashFleet

/// A plan that was reviewed, for comparison with a later plan of the campaign.
package struct SavedPlan: Hashable, Sendable, Codable {
  package struct Image: Hashable, Sendable, Codable {
    /// The name of the image file in the campaign.
    package let file: String
    /// SHA-256 of the file, in hex digits.
    package let sha256: String
    /// SHA-256 of the file, its name and the values in its sidecar, in hex digits.
    package let identity: String

    package init(file: String, sha256: String, identity: String) {
      (self.file, self.sha256, self.identity) = (file, sha256, identity)
    }
  }

  package struct Device: Hashable, Sendable, Codable {
    package let id: String
    package let name: String?
    package let board: String?
    package let site: String?
    package let keyFile: String?
    package let wave: String
    package let image: String

    package init(_ device: FleetDevice, wave: String, image: String) {
      id = device.id
      (name, board, site, keyFile) = (device.name, device.board, device.site, device.keyFile)
      (self.wave, self.image) = (wave, image)
    }
  }

  /// The maximum number of devices that one difference lists; further devices are only counted.
  private static let namedMaximum = 3
  private static let formatVersion = 1

  private let format: Int
  package let campaign: String
  /// SHA-256 of the campaign's file, its table of devices and its aliases, in hex digits.
  package let text: String
  package let settings: [RunSetting]
  package let images: [Image]
  /// The devices in the order in which they are updated.
  package let devices: [Device]

  private enum CodingKeys: String, CodingKey {
    // This key sorts before the other keys, so that the file starts with it.
    case format = "_otaflash_plan"
    case campaign, text, settings, images, devices
  }

  /// The start of every saved plan.
  package static let head = "{\n  \"_otaflash_plan\" : "

  package init(
    _ plan: CampaignPlan, text: String, settings: [RunSetting], images: [Image]
  ) {
    format = Self.formatVersion
    campaign = plan.campaign.name
    (self.text, self.settings) = (text, settings)
    self.images = images.sorted { $0.file < $1.file }
    devices = plan.waves.flatMap { planned in
      planned.devices.map {
        Device($0, wave: planned.wave.name, image: plan.campaign.image(for: $0) ?? "")
      }
    }
  }

  /// - Throws: the reason why the file is not a plan.
  package init(json: [UInt8]) throws(SavedPlanFault) {
    do { self = try JSONDecoder().decode(SavedPlan.self, from: Data(json)) } catch {
      throw SavedPlanFault(words: "the file is not a saved plan")
    }
    guard format == Self.formatVersion else {
      throw SavedPlanFault(words: "the plan has format \(format); this program supports format 1")
    }
  }

  package func json() throws(SavedPlanFault) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do { return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")] } catch {
      throw SavedPlanFault(words: "it cannot be written: \(error)")
    }
  }

  /// Returns the differences between this plan and `other`, as clauses; empty = no differences.
  package func differences(from other: SavedPlan) -> [String] {
    var words: [String] = []
    if campaign != other.campaign { words.append("the name is '\(other.campaign)'") }
    words += RunSetting.differences(from: settings, to: other.settings, origin: "plan")
    words += imageDifferences(from: other)
    words += deviceDifferences(from: other)
    // The difference is a changed comment, or a changed value that has no effect.
    if words.isEmpty, text != other.text { words.append("the text of the campaign was changed") }
    return words
  }

  private func imageDifferences(from other: SavedPlan) -> [String] {
    let mine = Dictionary(images.map { ($0.file, $0) }) { first, _ in first }
    return other.images.compactMap { image in
      guard let before = mine[image.file] else { return "image \(image.file) is new" }
      if before.sha256 != image.sha256 {
        return "image \(image.file) has SHA-256 \(image.sha256) (plan: \(before.sha256))"
      }
      return before.identity == image.identity
        ? nil : "the sidecar file of image \(image.file) was changed"
    }
  }

  private func deviceDifferences(from other: SavedPlan) -> [String] {
    let mine = Dictionary(devices.map { ($0.id, $0) }) { first, _ in first }
    let theirs = Dictionary(other.devices.map { ($0.id, $0) }) { first, _ in first }
    let added = other.devices.filter { mine[$0.id] == nil }.map(\.id)
    let removed = devices.filter { theirs[$0.id] == nil }.map(\.id)
    let changed = other.devices.filter { mine[$0.id] != nil && mine[$0.id] != $0 }
    var words: [String] = []
    if !added.isEmpty { words.append(Self.counted(added, "added")) }
    if !removed.isEmpty { words.append(Self.counted(removed, "removed")) }
    if !changed.isEmpty {
      words.append(Self.counted(changed.map(\.id), "in another wave or with other properties"))
    }
    if words.isEmpty, devices.map(\.id) != other.devices.map(\.id) {
      words.append("the devices are in a different order")
    }
    return words
  }

  /// Returns a text such as `2 devices added: a, b`.
  private static func counted(_ devices: [String], _ what: String) -> String {
    let named = devices.prefix(namedMaximum).joined(separator: ", ")
    let rest = devices.count - namedMaximum
    return "\(devices.count) \(devices.count == 1 ? "device" : "devices") \(what): \(named)"
      + (rest > 0 ? " and \(rest) more" : "")
  }
}

/// The reason why a file is not a valid plan.
package struct SavedPlanFault: Error, Hashable, Sendable {
  /// The reason, as a clause.
  package let words: String
}
#endif
