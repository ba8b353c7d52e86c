import OtaflashATT
import OtaflashGATT

/// An application with the DFU service in it, which only leads to the bootloader.
struct LegacyDFUEntry: Sendable {
  let client: GATTClient
  let controlPoint: DiscoveredCharacteristic

  /// Asks for the restart. The application leaves at once, often before it has answered. Its
  /// Control Point takes writes only from who listens to it.
  func enter() async throws(UpdateFault) {
    do throws(GATTFault) {
      let notices = try await client.subscribe(to: controlPoint, as: .notifications)
      try await client.write(LegacyDFURequest.start(.application).encoded, to: controlPoint)
      // To let go of the stream is to listen no more.
      withExtendedLifetime(notices) {}
    } catch .refused(_, .insufficientAuthorization) {
      throw .declined(.detach, .updatesNotPermitted)
    } catch {
      throw .gatt(.detach, error)
    }
  }
}
