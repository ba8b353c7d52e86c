import OtaflashATT
import OtaflashGATT

/// An application with a DFU service that only starts the bootloader.
struct LegacyDFUEntry: Sendable {
  let client: GATTClient
  let controlPoint: DiscoveredCharacteristic

  /// Requests the restart. The application restarts immediately, often before it has responded. Its
  /// Control Point accepts writes only from a subscribed host.
  func enter() async throws(UpdateFault) {
    do throws(GATTFault) {
      let notices = try await client.subscribe(to: controlPoint, as: .notifications)
      try await client.write(LegacyDFURequest.start(.application).encoded, to: controlPoint)
      // The end of the stream would end the subscription.
      withExtendedLifetime(notices) {}
    } catch .refused(_, .insufficientAuthorization) {
      throw .declined(.detach, .updatesNotPermitted)
    } catch {
      throw .gatt(.detach, error)
    }
  }
}
