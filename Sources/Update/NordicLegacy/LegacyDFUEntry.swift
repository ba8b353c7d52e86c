import OtaflashATT
import OtaflashGATT

/// An application whose DFU service only restarts the device into the bootloader.
struct LegacyDFUEntry: Sendable {
  /// The characteristic that accepts the request.
  enum Way: Sendable {
    /// The Control Point, which accepts writes only from a subscribed host.
    case controlPoint(DiscoveredCharacteristic)
    /// The characteristic of a micro:bit V1.
    case microbit(DiscoveredCharacteristic)
  }

  let client: GATTClient
  let way: Way

  /// The location of the bootloader. Without a bond, it advertises from the next address. The
  /// bootloader of a micro:bit keeps the address.
  var bootloaderPlace: DeviceLocation {
    switch way {
    case .controlPoint: .nextAddress
    case .microbit: .home
    }
  }

  /// Requests the restart. The application restarts immediately, often before it has responded.
  func enter() async throws(UpdateFault) {
    do throws(GATTFault) {
      switch way {
      case .controlPoint(let controlPoint):
        let notices = try await client.subscribe(to: controlPoint, as: .notifications)
        try await client.write(LegacyDFURequest.start(.application).encoded, to: controlPoint)
        // The subscription ends with the lifetime of the stream.
        withExtendedLifetime(notices) {}
      case .microbit(let control): try await client.write(MicrobitDFU.start, to: control)
      }
    } catch .refused(_, .insufficientAuthorization) {
      throw .declined(.detach, .updatesNotPermitted)
    } catch {
      throw .gatt(.detach, error)
    }
  }
}
