import OtaflashATT
import OtaflashFirmware
import OtaflashUpdate

/// Whether the advertisements of a device indicate that it supports an image, or that it has the
/// file system for resources.
package struct ImageFit: Equatable, Sendable {
  package enum Verdict: Int, Comparable, Sendable {
    /// The device advertises the service of a protocol that supports the image.
    case fits
    /// The device advertises no update service. Many devices with an update service do not
    /// advertise this service.
    case unknown
    /// The device advertises other update services.
    case other

    package static func < (left: Verdict, right: Verdict) -> Bool { left.rawValue < right.rawValue }

    package var word: String {
      switch self {
      case .fits: "fits"
      case .unknown: "?"
      case .other: "no"
      }
    }
  }

  /// The display name of the image or of the resources.
  package let name: String
  package let versionName: String?
  /// The size of the image or of all resources, in bytes.
  package let size: Int
  /// The names of the protocols that support the image; empty for resources.
  package let protocols: [String]
  private let services: Set<BluetoothUUID>
  private let isForResources: Bool

  package init(_ package: FirmwarePackage) {
    let able = UpdateProtocol.all.filter { session in package.parts.allSatisfy { session.takes($0) }
    }
    (name, versionName, size) = (package.name, package.versionName, package.size)
    protocols = able.map { $0.updateProtocol.name }
    services = Set(able.flatMap { $0.services })
    isForResources = false
  }

  package init(_ resources: ResourcePackage) {
    (name, versionName, size) = (resources.name, nil, resources.size)
    protocols = []
    services = [FileTransfer.service]
    isForResources = true
  }

  package func verdict(on advertised: [BluetoothUUID]) -> Verdict {
    if advertised.contains(where: services.contains) { return .fits }
    // InfiniTime advertises its DFU service, but not its file service.
    guard !isForResources else {
      return advertised.contains(LegacyDFU.service) ? .unknown : .other
    }
    return Self.protocols(behind: advertised).isEmpty ? .unknown : .other
  }

  /// Returns the update protocols of a device with these services.
  package static func protocols(behind advertised: [BluetoothUUID]) -> [String] {
    UpdateProtocol.all.filter { session in
      session.services.contains { advertised.contains($0) }
    }.map { $0.updateProtocol.name }
  }

  /// Returns the reason for the verdict, as a clause.
  package func reason(_ advertised: [BluetoothUUID]) -> String {
    let spoken = Self.protocols(behind: advertised).joined(separator: ", ")
    return switch verdict(on: advertised) {
    case .fits where isForResources: "advertises the file service"
    case .unknown where isForResources:
      "advertises the DFU service, as InfiniTime does, and may have the file service"
    case .other where isForResources: "does not advertise the DFU service of InfiniTime"
    case .fits: "supports \(spoken), which accepts \(name)"
    case .unknown: "advertises no update service, but may have one"
    case .other: "supports \(spoken); \(name) requires \(protocols.joined(separator: ", "))"
    }
  }
}
