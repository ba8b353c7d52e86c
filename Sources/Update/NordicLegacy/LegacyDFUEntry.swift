import OtaflashATT
import OtaflashGATT

/// An application whose DFU service only restarts the device into the bootloader.
struct LegacyDFUEntry: Sendable {
  let client: GATTClient
  let controlPoint: DiscoveredCharacteristic

  /// Requests the restart. The application restarts immediately, often before it has responded.
  /// Subscribes first, because the Control Point accepts writes only from a subscribed host.
  func enter() async throws(UpdateFault) {
    do throws(GATTFault) {
      let notices = try await client.subscribe(to: controlPoint, as: .notifications)
      try await client.write(LegacyDFURequest.start(.application).encoded, to: controlPoint)
      // The subscription ends with the lifetime of the stream.
      withExtendedLifetime(notices) {}
    } catch .refused(_, .insufficientAuthorization) {
      throw .declined(.detach, .updatesNotPermitted)
    } catch {
      throw .gatt(.detach, error)
    }
  }
}
