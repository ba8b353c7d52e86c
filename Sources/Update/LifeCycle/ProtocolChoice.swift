import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The protocols of one update, identified by their `UpdateProtocol`.
struct ProtocolChoice: Sendable {
  let protocols: [any UpdateSession.Type]

  /// Returns the protocols that a connected device offers.
  func offered(by client: GATTClient) async throws(UpdateFault) -> [any UpdateSession.Type] {
    do throws(GATTFault) {
      var offered: [any UpdateSession.Type] = []
      for known in protocols where try await known.isOffered(by: client) { offered.append(known) }
      return offered
    } catch {
      throw .gatt(.connect, error)
    }
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

  /// The protocols that may update a device.
  struct Candidates {
    /// The protocol whose session decides.
    let first: any UpdateSession.Type
    /// The protocol to which that session may leave the update.
    var alternative: (any UpdateSession.Type)?
  }

  /// Chooses the device's protocol for images that belong together, with its alternative if the
  /// device offers both.
  ///
  /// - Throws: `noUpdateService`, `protocolNotOffered`, `imageNotTaken` if no protocol supports the
  ///   image, or `protocolAmbiguous` if several support it, so that the user must choose one.
  func choose(
    for images: [FirmwareImage], among offered: [any UpdateSession.Type], asked: UpdateProtocol?
  ) throws(UpdateFault) -> Candidates {
    guard !offered.isEmpty else { throw .noUpdateService }
    if let asked {
      guard let wanted = offered.first(where: { $0.updateProtocol == asked }) else {
        throw .protocolNotOffered(asked: asked, offered: offered.map { $0.updateProtocol })
      }
      guard images.allSatisfy(wanted.takes) else { throw .imageNotTaken(by: [asked]) }
      return Candidates(first: wanted)
    }
    let takers = offered.filter { images.allSatisfy($0.takes) }
    guard let first = takers.first else {
      throw .imageNotTaken(by: offered.map { $0.updateProtocol })
    }
    if takers.count == 1 { return Candidates(first: first) }
    for taker in takers where takers.count == 2 {
      let alternative = takers.first { taker.alternatives.contains($0.updateProtocol) }
      if let alternative { return Candidates(first: taker, alternative: alternative) }
    }
    throw .protocolAmbiguous(takers.map { $0.updateProtocol })
  }
}

extension ProtocolChoice.Candidates {
  /// The session that updates the device, and the other session if it was opened too.
  struct Opened {
    let chosen: ChosenProtocol
    let session: any UpdateSession
    /// The session that left the update to its alternative.
    var leaving: (any UpdateSession)?
    var reason: DeliveryObstacle?
  }

  /// Opens the session that updates the device with these images.
  func open(
    on client: GATTClient, _ context: UpdateContext, for images: [FirmwareImage]
  ) async throws(UpdateFault) -> Opened {
    let chosen = ChosenProtocol(first, alternative: alternative?.updateProtocol)
    let session = try await chosen.open(on: client, context)
    guard let alternative else { return Opened(chosen: chosen, session: session) }
    switch try await session.preference(for: images) {
    case .keep: return Opened(chosen: chosen, session: session)
    case .leave(let reason):
      let other = ChosenProtocol(alternative)
      return Opened(
        chosen: other, session: try await other.open(on: client, context), leaving: session,
        reason: reason)
    }
  }
}
