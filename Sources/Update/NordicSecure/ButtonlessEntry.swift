import OtaflashATT
import OtaflashGATT

/// An application that can restart into its bootloader on request.
struct ButtonlessEntry: Sendable {
  /// The longest wait for an answer.
  private static let answerLimit = Duration.seconds(20)

  let client: GATTClient
  let variant: ButtonlessVariant
  let characteristic: DiscoveredCharacteristic

  /// Finds the variant that an application offers. Returns `nil` if the application offers none, so
  /// that the user must start the bootloader manually.
  static func find(on client: GATTClient) async throws(GATTFault) -> ButtonlessEntry? {
    for variant in ButtonlessVariant.allCases {
      do throws(GATTFault) {
        return ButtonlessEntry(
          client: client, variant: variant,
          characteristic: try await client.characteristic(
            variant.characteristic, in: variant.service))
      } catch .notFound {
        continue
      }
    }
    return nil
  }

  /// The location where the bootloader will advertise. With bonds, the bootloader keeps the
  /// application's address, because the keys belong to this address. Otherwise the last byte is one
  /// higher, so that no host mistakes the bootloader for the application.
  var bootloaderPlace: DeviceLocation {
    switch variant {
    case .withBonds: .home
    case .withoutBonds, .experimental: .nextAddress
    }
  }

  /// Requests the restart; the application ends the connection.
  ///
  /// - Parameter name: the bootloader's name in advertisements, if the variant supports a name. The
  ///   name distinguishes the device from nearby devices whose bootloaders advertise with the
  ///   default name.
  func enter(advertisedName name: String, on clock: any LinkClock) async throws(UpdateFault) {
    let answers: NotificationStream
    do throws(GATTFault) {
      answers = try await client.subscribe(
        to: characteristic, as: variant == .experimental ? .notifications : .indications)
    } catch {
      throw .gatt(.detach, error)
    }
    if variant.takesName {
      // The address is sufficient to find the bootloader, so a refused name is not an error.
      _ = try await perform(.setAdvertisedName(name), answers, clock)
    }
    let status = try await perform(.enterBootloader, answers, clock)
    guard status == .success else { throw .declined(.detach, status.inWords) }
  }

  private func perform(
    _ request: ButtonlessRequest, _ answers: NotificationStream, _ clock: any LinkClock
  ) async throws(UpdateFault) -> ButtonlessResponse.Status {
    let deadline = clock.now.advanced(by: Self.answerLimit)
    // The next search at the bootloader's address shows whether the device received the request.
    let silence = UpdateFault.gatt(.detach, .transactionTimedOut)
    return try await withDeadline(deadline, on: clock, orThrow: silence) {
      () async throws(UpdateFault) -> ButtonlessResponse.Status in
      do throws(GATTFault) {
        try await client.write(request.encoded, to: characteristic)
        while let received = try await answers.next() {
          let response = try Self.decode(received.value)
          if response.opcode == request.opcode { return response.status }
        }
      } catch {
        throw .gatt(.detach, error)
      }
      throw .gatt(.detach, .linkLost(.closedLocally))
    }
  }

  private static func decode(_ bytes: [UInt8]) throws(GATTFault) -> ButtonlessResponse {
    do throws(DFUDecodeFault) { return try ButtonlessResponse(decoding: bytes) } catch {
      throw .violation(error.description)
    }
  }
}
