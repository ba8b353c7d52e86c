import OtaflashATT
import OtaflashGATT

/// An application that can be asked to restart into its bootloader.
struct ButtonlessEntry: Sendable {
  /// The longest wait for an answer.
  private static let answerLimit = Duration.seconds(20)

  let client: GATTClient
  let variant: ButtonlessVariant
  let characteristic: DiscoveredCharacteristic

  /// The variant that an application offers; `nil` when it has to be restarted by hand.
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

  /// Where the bootloader will advertise. With bonds it keeps the address, since the keys belong
  /// to it; else its last byte is one higher, so that no host mistakes it for the application.
  var bootloaderPlace: DeviceLocation {
    switch variant {
    case .withBonds: .home
    case .withoutBonds, .experimental: .nextAddress
    }
  }

  /// Asks for the restart; the application ends the connection.
  ///
  /// - Parameter name: what the bootloader shall advertise as, where it takes a name: others
  ///   nearby may be in their bootloaders too, and each calls itself the same.
  func enter(advertisedName name: String, on clock: any LinkClock) async throws(UpdateFault) {
    let answers: NotificationStream
    do throws(GATTFault) {
      answers = try await client.subscribe(
        to: characteristic, as: variant == .experimental ? .notifications : .indications)
    } catch {
      throw .gatt(.detach, error)
    }
    if variant.takesName {
      // The address alone finds the bootloader: a name that is refused is no loss.
      _ = try await perform(.setAdvertisedName(name), answers, clock)
    }
    let status = try await perform(.enterBootloader, answers, clock)
    guard status == .success else { throw .declined(.detach, status.inWords) }
  }

  private func perform(
    _ request: ButtonlessRequest, _ answers: NotificationStream, _ clock: any LinkClock
  ) async throws(UpdateFault) -> ButtonlessResponse.Status {
    let deadline = clock.now.advanced(by: Self.answerLimit)
    // Whether it has heard, the next look at its bootloader's place will tell.
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
