import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The protocols of one update, identified by their `UpdateProtocol`.
struct ProtocolChoice: Sendable {
  let protocols: [any UpdateSession.Type]

  /// Returns the protocols whose services a device has.
  func offered(by services: [BluetoothUUID]) -> [any UpdateSession.Type] {
    protocols.filter { $0.services.contains { services.contains($0) } }
  }

  /// Returns the possible locations of a device that accepts the images, in search order.
  func places(for images: [FirmwareImage], asked: UpdateProtocol?) -> [DeviceLocation] {
    let candidates =
      asked.map { asked in protocols.filter { $0.updateProtocol == asked } }
      ?? protocols.filter { images.allSatisfy($0.takes) }
    let places = candidates.flatMap { $0.places }.reduce(into: [DeviceLocation]()) {
      places, place in
      if !places.contains(place) { places.append(place) }
    }
    return places.isEmpty ? [.home] : places
  }

  /// Chooses one of the device's protocols for images that belong together.
  ///
  /// - Throws: `noUpdateService`, `protocolNotOffered`, `imageNotTaken` if no protocol supports the
  ///   image, or `protocolAmbiguous` if several support it, so that the user must choose one.
  func choose(
    for images: [FirmwareImage], among offered: [any UpdateSession.Type], asked: UpdateProtocol?
  ) throws(UpdateFault) -> any UpdateSession.Type {
    guard !offered.isEmpty else { throw .noUpdateService }
    if let asked {
      guard let wanted = offered.first(where: { $0.updateProtocol == asked }) else {
        throw .protocolNotOffered(asked: asked, offered: offered.map { $0.updateProtocol })
      }
      guard images.allSatisfy(wanted.takes) else { throw .imageNotTaken(by: [asked]) }
      return wanted
    }
    let takers = offered.filter { images.allSatisfy($0.takes) }
    guard let first = takers.first else {
      throw .imageNotTaken(by: offered.map { $0.updateProtocol })
    }
    guard takers.count == 1 else {
      throw .protocolAmbiguous(takers.map { $0.updateProtocol })
    }
    return first
  }
}
