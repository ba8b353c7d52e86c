/// Everything except the image that a worker needs for one attempt, so that the worker depends
/// neither on the campaign nor on the process of the coordinator.
package struct WorkOrder: Hashable, Sendable, Codable {
  /// The name of the device in the campaign.
  package var name: String?
  package var options = FlashChoices()
  package var requirements = DeviceRequirements()
  /// The hooks of the campaign; `nil` = the campaign has no hook before or after a device.
  package var hooks: CampaignHooks?
  /// The environment variables of the hooks.
  package var hookFacts: [String: String] = [:]
  /// The encrypted key of the device; `nil` = the device has no key, or the worker has the key.
  package var key: SealedKey?
  /// The time for which workers that receive no advertisement of the device may return the job,
  /// before the attempt ends as `notHeard`. Zero = the first return ends the attempt, because the
  /// only worker has all adapters.
  package var search = Duration.zero

  package init() {}
}

/// The secret key of a device, encrypted for the workers of one site. The exchange stores it
/// without access to its content.
package struct SealedKey: Hashable, Sendable, Codable {
  /// The site whose workers can decrypt the key.
  package let site: String
  package let box: [UInt8]

  package init(site: String, box: [UInt8]) {
    self.site = site
    self.box = box
  }
}

extension SealedKey: CustomStringConvertible {
  /// The description omits the box, so that no message or log contains it.
  package var description: String { "a key for site \(site)" }
}
