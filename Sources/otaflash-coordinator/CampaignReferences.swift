#if Sites
import OtaflashFleet
import OtaflashFleetFiles
import OtaflashFleetHost

/// The names of the files to which a campaign refers, and which are submitted with the campaign.
enum CampaignReferences {
  /// Returns the names of the images, the public key, the table of devices, and the keys of
  /// devices.
  ///
  /// - Parameter read: returns the content of the campaign's table of devices; `nil` if the table
  ///   is missing.
  static func names<Failure>(
    in text: [UInt8], table read: (String) throws(Failure) -> [UInt8]?
  ) throws -> Set<String> {
    let file = try CampaignFile(bytes: text, now: .now)
    let campaign = file.campaign
    var names = Set(campaign.images.values)
    names.formUnion([campaign.keyFile, file.devicesFile].compactMap(\.self))
    names.formUnion(campaign.devices.compactMap(\.keyFile))
    if let name = file.devicesFile, let content = try read(name) {
      let table = try DeviceTable(path: name, bytes: content)
      let complete = file.adding(table, path: name)
      names.formUnion(complete.campaign.devices.compactMap(\.keyFile))
    }
    return names
  }
}
#endif
