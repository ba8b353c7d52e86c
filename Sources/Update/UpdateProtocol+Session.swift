import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

extension UpdateProtocol {
  var session: any UpdateSession.Type {
    switch self {
    case .otaflash: OTASession.self
    case .smp: SMPSession.self
    case .nordicSecure: SecureDFUSession.self
    case .nordicLegacy: LegacyDFUSession.self
    }
  }

  /// The protocols whose services a device has.
  static func offered(by services: [BluetoothUUID]) -> [UpdateProtocol] {
    allCases.filter { $0.session.services.contains { services.contains($0) } }
  }

  private func takes(_ images: [FirmwareImage]) -> Bool { images.allSatisfy(session.takes) }

  /// Places where a device that could take the images may be, in the order to look.
  static func places(
    for images: [FirmwareImage], asked: UpdateProtocol?
  ) -> [Whereabouts] {
    let candidates = asked.map { [$0] } ?? allCases.filter { $0.takes(images) }
    return candidates.flatMap { $0.session.places }.reduce(into: []) { places, place in
      if !places.contains(place) { places.append(place) }
    }
  }

  /// The protocol for images that belong together, among those that a device offers.
  ///
  /// - Throws: `noUpdateService`, `protocolNotOffered`, `imageNotTaken` when none can carry the
  ///   image, or `protocolAmbiguous` when several can: nothing is picked for the user.
  static func choose(
    for images: [FirmwareImage], among offered: [UpdateProtocol], asked: UpdateProtocol?
  ) throws(UpdateFault) -> UpdateProtocol {
    guard !offered.isEmpty else { throw .noUpdateService }
    if let asked {
      guard offered.contains(asked) else {
        throw .protocolNotOffered(asked: asked, offered: offered)
      }
      guard asked.takes(images) else { throw .imageNotTaken(by: [asked]) }
      return asked
    }
    let takers = offered.filter { $0.takes(images) }
    guard let first = takers.first else { throw .imageNotTaken(by: offered) }
    guard takers.count == 1 else { throw .protocolAmbiguous(takers) }
    return first
  }
}
